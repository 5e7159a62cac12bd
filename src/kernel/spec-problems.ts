import type { z } from "zod";
import type { FieldProblem } from "./kind.ts";

/** What is wrong with a spec: each by its place, with what was expected there. */
export function specProblems(kind: string, { issues }: z.ZodError): readonly FieldProblem[] {
  return issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [{ pointer: pointerTo(issue.path), message: wordsOf(issue) }];
    const message = `unknown field. What there is: setpoint explain ${kind.toLowerCase()}.spec`;
    return issue.keys.map((key) => ({ pointer: pointerTo([...issue.path, key]), message }));
  });
}

function pointerTo(path: readonly PropertyKey[]): string {
  return `/spec${path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`;
}

function wordsOf(issue: z.core.$ZodIssue): string {
  // Of a name that will not do, the schema of names says why.
  if (issue.code === "invalid_key") return `its name: ${issue.issues[0]?.message ?? issue.message}`;
  const [, expected] = /^Invalid input: (expected .*), received undefined$/.exec(issue.message) ?? [];
  return expected === undefined ? issue.message : `is required: ${expected}`;
}
