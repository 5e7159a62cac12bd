import { type ProblemDocument, problemCodes } from "../../src/control-api/schemas/common.ts";
import type { Route } from "../../src/control-api/route.ts";
import type { Received } from "./wire.ts";

const codes: ReadonlySet<string> = new Set(problemCodes);

/** What is wrong with an answer; undefined when nothing is. */
export function faultOf(method: string, answer: Received, route: Route | undefined): string | undefined {
  if (answer.status >= 500) return `was answered with ${answer.status}: ${answer.text.slice(0, 500)}`;
  if (method === "HEAD") return undefined;
  if (answer.status >= 400) return problemFault(answer.status, answer.headers["content-type"], answer.text);
  return route === undefined || route.method !== method ? undefined : contractFault(answer, route);
}

export function problemFault(
  status: number,
  contentType: string | string[] | undefined,
  text: string,
): string | undefined {
  const shown = `${status}: ${text.slice(0, 500)}`;
  if (!String(contentType).startsWith("application/problem+json"))
    return `is refused with ${String(contentType)} instead of a problem: ${shown}`;
  let problem: Partial<ProblemDocument>;
  try {
    problem = JSON.parse(text) as Partial<ProblemDocument>;
  } catch {
    return `is refused with a problem that is not JSON: ${shown}`;
  }
  if (!codes.has(String(problem.code))) return `is refused with an unknown code: ${shown}`;
  if (problem.status !== status) return `is refused with a problem of another status: ${shown}`;
  if (typeof problem.detail !== "string" || problem.detail.trim() === "")
    return `is refused without a detail that says what to do: ${shown}`;
  if (/\n\s+at |\/src\/|\.ts:\d/.test(text)) return `is refused with a trace of our own code: ${shown}`;
  if (/\b(select|insert|update|delete)\b.*\b(from|into|set)\b.*setpoint\./i.test(text))
    return `is refused with a statement of our own: ${shown}`;
  return undefined;
}

/** What is answered is what the document says. */
function contractFault({ status, headers, text }: Received, route: Route): string | undefined {
  const answer = route.answers[status];
  if (answer === undefined) return `was answered with ${status}, which its route does not declare`;
  if (answer.schema === undefined || !String(headers["content-type"]).startsWith("application/json")) return undefined;
  // A plan instead of the thing itself: asked for by the caller, and said in the answer's description.
  const body = JSON.parse(text) as unknown;
  if (typeof body === "object" && body !== null && "dryRun" in body) return undefined;
  const parsed = answer.schema.safeParse(body);
  if (parsed.success) return undefined;
  const [issue] = parsed.error.issues;
  return `was answered with what its schema does not allow: ${issue?.path.join("/")}: ${issue?.message} in ${text.slice(0, 300)}`;
}
