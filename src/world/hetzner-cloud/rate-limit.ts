import { taken } from "../rate-bucket.ts";
import type { Project } from "./project.ts";

/** Takes one request out of the project's hour, which refills steadily; false where nothing is left. */
export function takeRequest(project: Project, nowMs: number): boolean {
  const { requestsPerHour } = project;
  const { rate, isTaken } = taken(project.rate, { most: requestsPerHour, perSecond: requestsPerHour / 3_600 }, nowMs);
  project.rate = rate;
  return isTaken;
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
