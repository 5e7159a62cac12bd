import type { Command } from "commander";
import { commandFacts } from "./command-facts.ts";

/** The headings of `setpoint --help`, and what stands below each. */
const groups: Readonly<Record<string, readonly string[]>> = {
  "Look:": [
    "get",
    "describe",
    "why",
    "tree",
    "events",
    "history",
    "drift",
    "wait",
    "ops",
    "explain",
    "loops",
    "status",
  ],
  "Declare:": ["apply", "diff", "plan", "plans", "rollback", "delete", "reconcile", "mode", "export"],
  "What exists already:": ["connect", "import", "adopt", "release", "ignore", "account", "pool"],
  "Decide, stop and go on:": [
    "held",
    "approve",
    "reject",
    "withdraw",
    "freeze",
    "unfreeze",
    "pause",
    "suspend",
    "resume",
  ],
  "Rules:": ["policy", "policy-history", "limits", "quota"],
  "People and places:": ["org", "project", "workspace", "create", "member", "invite", "role", "people", "can-i"],
  "Proofs and secrets:": ["auth", "token", "secret", "context"],
  "Record:": ["audit", "webhook", "notification"],
  "Run it:": ["dev", "api", "scheduler", "worker", "migrate", "restored", "backup", "world", "doctor", "completion"],
};

/** Examples for every command, and `--reason` for those that change something. */
export function completeHelp(program: Command): void {
  for (const [heading, names] of Object.entries(groups))
    for (const name of names) program.commands.find((command) => command.name() === name)?.helpGroup(heading);
  const order = Object.values(groups).flat();
  (program.commands as Command[]).sort((left, right) => order.indexOf(left.name()) - order.indexOf(right.name()));
  for (const { words, command } of leavesOf(program)) {
    const facts = commandFacts[words];
    if (facts === undefined) continue;
    if (facts.changes && !command.options.some(({ long }) => long === "--reason"))
      command.option("--reason <text>", "why; it goes into the audit trail");
    const lines = facts.examples.map((example) => `  ${example}\n`).join("");
    command.addHelpText("after", `\n${facts.examples.length === 1 ? "Example" : "Examples"}:\n${lines}`);
  }
}

export interface Leaf {
  /** Such as `auth totp enable`. */
  readonly words: string;
  readonly command: Command;
}

/** Every command that does something itself. */
export function leavesOf(command: Command, words: readonly string[] = []): readonly Leaf[] {
  return command.commands
    .filter((one) => one.name() !== "help" && !one.name().startsWith("__"))
    .flatMap((one) => {
      const named = [...words, one.name()];
      return one.commands.length > 0 ? leavesOf(one, named) : [{ words: named.join(" "), command: one }];
    });
}
