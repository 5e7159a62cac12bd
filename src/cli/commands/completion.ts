import type { Command, Option } from "commander";
import type { ApiClient } from "../api-client.ts";
import { usageError } from "../cli-error.ts";
import { knownKinds } from "../kind-names.ts";
import { listAll } from "../list-all.ts";
import { scopePath } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** Each shell asks the hidden command `__complete` with the words so far, and takes what it prints. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_setpoint() {
  local IFS=$'\\n'
  COMPREPLY=($(setpoint __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _setpoint setpoint
`,
  zsh: `#compdef setpoint
_setpoint() {
  local -a found
  found=("\${(@f)$(setpoint __complete -- "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)}")
  compadd -a found
}
compdef _setpoint setpoint
`,
  fish: `complete -c setpoint -f -a '(setpoint __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
};

/** completion: commands and options from the program itself, names live from the API. */
export function registerCompletion(program: Command, world: CliWorld, client: ApiClient): void {
  program
    .command("completion")
    .description("print the completion script of a shell")
    .argument("<shell>", Object.keys(scripts).join(", "))
    .addHelpText("after", '\nExample:\n  eval "$(setpoint completion bash)"\n')
    .action((shell: string) => {
      const script = scripts[shell];
      if (script === undefined) throw usageError(`"${shell}" is not known: ${Object.keys(scripts).join(", ")}`);
      world.writeData(script);
    });
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      const typed = words.at(-1) ?? "";
      const found = (await candidates(program, { world, client }, words)).filter((word) => word.startsWith(typed));
      world.writeData(found.map((word) => `${word}\n`).join(""));
    });
}

async function candidates(
  program: Command,
  about: { readonly world: CliWorld; readonly client: ApiClient },
  words: readonly string[],
): Promise<readonly string[]> {
  const typed = words.at(-1) ?? "";
  let command = program;
  for (const word of words.slice(0, -1)) command = command.commands.find((one) => one.name() === word) ?? command;
  if (typed.startsWith("-")) return command.options.flatMap(({ long }: Option) => long ?? []);
  if (command.commands.length > 0)
    return command.commands.map((one) => one.name()).filter((name) => !name.startsWith("__"));
  const [first] = command.registeredArguments;
  if (first === undefined || !first.name().startsWith("kind")) return [];
  return await targets(about, first.name().includes("/"), typed);
}

/** KIND, or KIND/NAME once a kind is there. Whatever goes wrong, completing nothing is better than a message. */
async function targets(
  { world, client }: { readonly world: CliWorld; readonly client: ApiClient },
  named: boolean,
  typed: string,
): Promise<readonly string[]> {
  try {
    const kinds = await knownKinds(client);
    const [word = "", rest] = typed.split("/");
    const kind = kinds.find((one) => one.kind.toLowerCase() === word.toLowerCase());
    if (rest === undefined || kind === undefined)
      return kinds.map((one) => `${one.kind.toLowerCase()}${named ? "/" : ""}`);
    const items = await listAll(client, `${scopePath(world, {})}/${kind.plural}`, undefined);
    return items.map((item) => `${word}/${item.metadata.name}`);
  } catch {
    return [];
  }
}
