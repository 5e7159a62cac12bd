import type { Command } from "commander";
import type { ApiClient } from "../api-client.ts";
import { usageError } from "../cli-error.ts";
import { completions } from "../complete.ts";
import type { CliWorld } from "../world.ts";

/** Each shell asks the hidden command `__complete` with the words so far, and takes what it prints. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_setpoint() {
  local IFS=$'\\n'
  COMPREPLY=($(setpoint __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _setpoint setpoint
`,
  zsh: `#compdef setpoint
_setpoint() {
  local -a found open
  found=("\${(@f)$(setpoint __complete -- "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)}")
  found=(\${found:#})
  open=(\${(M)found:#*/})
  found=(\${found:#*/})
  (( \${#open} + \${#found} )) || { _files; return }
  (( \${#open} )) && compadd -S '' -a open
  (( \${#found} )) && compadd -a found
}
if [[ \${funcstack[1]} == _setpoint ]]; then
  _setpoint "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit -u }
  compdef _setpoint setpoint
fi
`,
  fish: `complete -c setpoint -e
complete -c setpoint -a '(setpoint __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
};

/** completion: commands and options from the program itself, names live from the API. */
export function registerCompletion(program: Command, world: CliWorld, client: ApiClient): void {
  program
    .command("completion")
    .description("print the completion script of a shell")
    .argument("<shell>", Object.keys(scripts).join(", "))
    .action((shell: string) => {
      const script = scripts[shell];
      if (script === undefined) throw usageError(`"${shell}" is not known: ${Object.keys(scripts).join(", ")}`);
      world.writeData(script);
    });
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      const found = await completions(program, { world, client }, words);
      world.writeData(found.map((word) => `${word}\n`).join(""));
    });
}
