export interface BenchCommand {
  readonly name: string;
  readonly json: boolean;
  readonly quick: boolean;
}

export class UsageError extends Error {}

/** `NAME [--json] [--quick]`, in any order. */
export function parseCommand(words: readonly string[], names: readonly string[]): BenchCommand {
  const usage = `Usage: npm run bench -- NAME [--json] [--quick]\nNames: ${names.join(", ")}`;
  const flags = words.filter((word) => word.startsWith("-"));
  const unknown = flags.find((flag) => flag !== "--json" && flag !== "--quick");
  if (unknown !== undefined) throw new UsageError(`There is no option ${unknown}.\n${usage}`);
  const given = words.filter((word) => !word.startsWith("-"));
  const [name] = given;
  if (name === undefined) throw new UsageError(`Which benchmark?\n${usage}`);
  if (given.length > 1) throw new UsageError(`One benchmark at a time; given: ${given.join(", ")}.\n${usage}`);
  if (!names.includes(name)) throw new UsageError(`There is no benchmark '${name}'.\n${usage}`);
  return { name, json: flags.includes("--json"), quick: flags.includes("--quick") };
}
