import { readdirSync } from "node:fs";
import type { Statement } from "../../../src/store/statement.ts";

/** Every statement there is: whatever a module of src/store/sql exports. */
export async function allStatements(): Promise<readonly Statement<unknown>[]> {
  const folder = new URL("../../../src/store/sql/", import.meta.url);
  const found: Statement<unknown>[] = [];
  for (const file of readdirSync(folder)) {
    const exported: unknown[] = Object.values((await import(new URL(file, folder).href)) as object);
    for (const value of exported) {
      if (typeof value === "object" && value !== null && "touches" in value) found.push(value as Statement<unknown>);
    }
  }
  return found;
}
