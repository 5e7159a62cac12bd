import type { ControlApi } from "./control-api.ts";
import type { Declaration } from "./names.ts";

/** Declares one after the other. What is there already is left as people made it. Answers what went wrong. */
export async function declareAll(api: ControlApi, declarations: readonly Declaration[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { path, body } of declarations) {
    const { status, body: said } = await api.send("POST", path, body);
    const isThere = status === 409 && said["code"] === "ALREADY_EXISTS";
    if ((status >= 300 || status === 0) && !isThere) problems.push(`${path}: ${String(said["detail"])}`);
  }
  return problems;
}
