import { TerminalError } from "../../kernel/errors.ts";
import type { ScriptRun } from "../../ports/shell.ts";

/**
 * What is run on a server, for any POSIX shell. Runs of a script live in folders named by their numbers, and making the folder is what
 * starts one: that can happen once, however often the order comes.
 */

const outputBytes = 2_000;

/** A resource's uid, which becomes a folder's name. */
function folderOf(owner: string): string {
  if (!/^[\w-]{1,100}$/.test(owner))
    throw new TerminalError("INTERNAL", `'${owner}' cannot be the name of a folder on a server`);
  return `d="$HOME/.setpoint/bootstrap/${owner}"`;
}

/** One word for the user's shell, whichever that is: neither line breaks nor quotes of its own. */
function inShell(lines: readonly string[]): string {
  return `sh -c '${lines.join("; ").replaceAll("'", `'\\''`)}'`;
}

const bootId = "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)";

/** Whoever makes the folder runs the script. What it comes to is there in one piece or not at all. */
const runner = [
  `r="$1"`,
  `s="$2"`,
  `mkdir "$r" 2>/dev/null || { rm -f "$s"; exit 0; }`,
  `mv "$s" "$r/script"`,
  `echo "$$ ${bootId}" > "$r/process.new"`,
  `mv "$r/process.new" "$r/process"`,
  `cd "$HOME"`,
  `case "$(head -c 2 "$r/script")" in "#!") chmod u+x "$r/script"; "$r/script" ;; *) sh "$r/script" ;; esac > "$r/output" 2>&1 < /dev/null`,
  `echo "$?" > "$r/exit.new"`,
  `mv "$r/exit.new" "$r/exit"`,
];

/** The script comes by standard input. One that was cut off on its way is not run. */
export function startProgram(run: {
  readonly owner: string;
  readonly number: number;
  readonly script: string;
}): string {
  return inShell([
    `set -e`,
    `umask 077`,
    folderOf(run.owner),
    `mkdir -p "$d"`,
    `s="$d.$$"`,
    `cat > "$s"`,
    `if [ "$(wc -c < "$s")" -ne ${Buffer.byteLength(run.script)} ]; then rm -f "$s"; echo "the script came in part" >&2; exit 65; fi`,
    `nohup ${inShell(runner)} setpoint "$d/${run.number}" "$s" > /dev/null 2>&1 < /dev/null & true`,
  ]);
}

export function lastRunProgram(owner: string): string {
  return inShell([
    folderOf(owner),
    `n=$(ls "$d" 2>/dev/null | sort -n | tail -n 1)`,
    `if [ -z "$n" ]; then echo none; exit 0; fi`,
    `r="$d/$n"`,
    `alive() { read -r p b < "$r/process"; [ "$b" = "${bootId}" ] && kill -0 "$p" 2>/dev/null; }`,
    `x=""`,
    `if [ -s "$r/process" ] && ! alive; then x=dead; fi`,
    // Asked for after the process, because it may have ended in between.
    `if [ -s "$r/exit" ]; then echo "ended $n $(cat "$r/exit")"; elif [ -n "$x" ]; then echo "lost $n"; else echo "running $n"; fi`,
    `tail -c ${outputBytes} "$r/output" 2>/dev/null || true`,
  ]);
}

const firstLine = /^(none|(ended) (\d+) (\d+)|(running|lost) (\d+))\n?/;

export function parseLastRun(text: string): ScriptRun | "none" {
  const found = firstLine.exec(text);
  if (found === null)
    throw new TerminalError(
      "PROVIDER_REFUSED",
      `The server answered '${text.slice(0, 200)}' where runs of a script are told: is there a POSIX shell?`,
    );
  const [line, word, ended, endedNumber, exitCode, state, number] = found;
  if (word === "none") return "none";
  const output = text.slice(line.length).trim();
  if (ended === undefined) return { number: Number(number), state: state === "lost" ? "lost" : "running", output };
  return { number: Number(endedNumber), state: "ended", exitCode: Number(exitCode), output };
}
