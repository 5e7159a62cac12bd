import { posix } from "node:path";
import type { Finding, Repository } from "./source.ts";

interface Line {
  readonly number: number;
  readonly text: string;
}

/** The lines of a document outside code blocks, with inline code blanked out. */
function proseLines(text: string): Line[] {
  const lines: Line[] = [];
  let fence: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (fence !== undefined && mark?.startsWith(fence) === true) fence = undefined;
    else if (fence === undefined) lines.push({ number: index + 1, text: line });
  }
  return lines;
}

function withoutCode(line: string): string {
  return line.replace(/`[^`]*`/g, (code) => " ".repeat(code.length));
}

export function oneTitle(path: string, text: string): Finding[] {
  if (!path.endsWith(".md")) return [];
  const titles = proseLines(text).filter((line) => line.text.startsWith("# "));
  if (titles.length === 1) return [];
  return [{ path, line: titles[1]?.number ?? 1, message: `${titles.length} titles (# …): a document has exactly one` }];
}

/** The anchors that a document's headings get where it is read. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const { text: line } of proseLines(text)) {
    const heading = /^#{1,6} +(.*?) *#*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/ /g, "-");
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
  }
  return anchors;
}

export function linksResolve(path: string, text: string, repository: Repository): Finding[] {
  if (!path.endsWith(".md")) return [];
  return proseLines(text).flatMap(({ number, text: line }) =>
    targetsIn(withoutCode(line)).flatMap((target) => {
      const problem = linkProblem(path, text, target, repository);
      return problem === undefined ? [] : [{ path, line: number, message: problem }];
    }),
  );
}

function targetsIn(line: string): string[] {
  const inline = [...line.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)].map((match) => match[1] ?? "");
  const definition = /^\s*\[[^\]]+\]:\s*<?([^\s>]+)>?/.exec(line)?.[1];
  return definition === undefined ? inline : [...inline, definition];
}

function linkProblem(path: string, text: string, target: string, repository: Repository): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return undefined;
  if (target.startsWith("/")) return `the link ${target} is absolute: write it relative to this document`;
  const [file = "", anchor] = target.split("#");
  const linked = file === "" ? path : posix.normalize(posix.join(posix.dirname(path), decodeURIComponent(file)));
  const linkedText = file === "" ? text : repository.get(linked);
  if (linkedText === undefined && !isFolder(linked, repository)) return `the link ${target} leads nowhere`;
  if (anchor === undefined || linkedText === undefined || !linked.endsWith(".md")) return undefined;
  return anchorsOf(linkedText).has(anchor) ? undefined : `the link ${target} names a heading that is not there`;
}

function isFolder(path: string, repository: Repository): boolean {
  const prefix = path === "." || path === "./" ? "" : `${path.replace(/\/$/, "")}/`;
  return [...repository.keys()].some((name) => name.startsWith(prefix));
}
