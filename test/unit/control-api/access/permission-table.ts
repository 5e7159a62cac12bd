import { type GrantedRole, permissionCatalogue } from "../../../../src/control-api/access/permission-keys.ts";
import { kinds } from "../../../../src/kinds/registry.ts";
import type { Action } from "../../../../src/ports/access.ts";

const letterOf: Readonly<Record<Action, string>> = { read: "r", create: "c", update: "u", delete: "d", execute: "x" };

/** The table of docs/access.md: every key, and what each role that comes with Setpoint may do with it. */
export function permissionTable(): string {
  const columns: readonly GrantedRole[] = ["admin", "member", "auditor", "billing", "operator"];
  const lines = [...permissionCatalogue(kinds).values()].map(({ key, actions, roles, sensitive, description }) => {
    const cells = [actions, ...columns.map((role) => roles[role])].map(letters);
    return `| \`${key}\` | ${[...cells, sensitive ? `${description} (lets somebody in)` : description].join(" | ")} |`;
  });
  const head = `| key | has | ${columns.join(" | ")} | what |\n|---|---|${columns.map(() => "---|").join("")}---|`;
  return `${[head, ...lines].join("\n")}\n`;
}

function letters(actions: readonly Action[]): string {
  return actions.map((action) => letterOf[action]).join("") || "–";
}
