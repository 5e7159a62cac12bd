import { ApiProblem } from "../../api/client.ts";

/** Whoever is refused by their rights sees nothing in that place, and no error. */
export function mayNotRead(error: unknown): boolean {
  return error instanceof ApiProblem && error.problem.status === 403;
}
