import type { Project } from "./project.ts";

/** Takes one request out of the project's hour, which refills steadily; false where nothing is left. */
export function takeRequest(project: Project, nowMs: number): boolean {
  const { requestsPerHour, rate } = project;
  const refilled = ((nowMs - rate.atMs) * requestsPerHour) / 3_600_000;
  const left = Math.min(requestsPerHour, rate.left + Math.max(0, refilled));
  project.rate = { left: left >= 1 ? left - 1 : left, atMs: nowMs };
  return left >= 1;
}

/** Limit, what is left, and when it is full again, in seconds since 1970. */
export function rateHeaders(project: Project): Record<string, string> {
  const { requestsPerHour, rate } = project;
  const missing = requestsPerHour - rate.left;
  return {
    "RateLimit-Limit": String(requestsPerHour),
    "RateLimit-Remaining": String(Math.floor(rate.left)),
    "RateLimit-Reset": String(Math.ceil(rate.atMs / 1_000 + (missing * 3_600) / requestsPerHour)),
  };
}
