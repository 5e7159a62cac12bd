import { usageError } from "./cli-error.ts";
import type { CliWorld } from "./world.ts";

/** Something that must not be on the command line, where every other user of the machine can read it. */
export async function secretInput(world: CliWorld, question: string, fromStdin: boolean): Promise<string> {
  if (fromStdin) {
    const [line = ""] = (await world.readStdin()).split(/\r?\n/);
    if (line === "") throw usageError("standard input has no password: give it as the first line");
    return line;
  }
  if (world.interactive) return await world.askHidden(question);
  throw usageError("a password is asked for on a terminal only: give it with --password-stdin");
}

/** The lines of standard input, where a command needs several. */
export async function secretLines(
  world: CliWorld,
  questions: readonly string[],
  fromStdin: boolean,
): Promise<readonly string[]> {
  if (!fromStdin) {
    const answers: string[] = [];
    for (const question of questions) answers.push(await secretInput(world, question, false));
    return answers;
  }
  const lines = (await world.readStdin()).split(/\r?\n/).slice(0, questions.length);
  if (lines.length < questions.length || lines.includes(""))
    throw usageError(`standard input must have ${questions.length} lines: ${questions.join(", ")}`);
  return lines;
}
