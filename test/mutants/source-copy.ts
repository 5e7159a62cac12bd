import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Mutant } from "./mutant.ts";

export const repository = resolve(import.meta.dirname, "../..");

/** Copies of `src` inside the repository, so that packages resolve; gone with everything in them when disposed. */
export interface SourceCopies extends Disposable {
  /** Never patched: every mutant starts from it, whatever happens to `src` during a long run. */
  readonly pristine: string;
  /** A fresh copy with the mutant's patches; throws when one of them does not fit exactly once. */
  patched(mutant: Mutant, worker: number): string;
}

export function sourceCopies(source = join(repository, "src")): SourceCopies {
  const folder = join(repository, ".scratch", `mutants-${process.pid}`);
  const pristine = join(folder, "pristine", "src");
  mkdirSync(folder, { recursive: true });
  cpSync(source, pristine, { recursive: true });
  return {
    pristine,
    patched(mutant, worker) {
      const copy = join(folder, `worker-${worker}`, "src");
      rmSync(copy, { recursive: true, force: true });
      cpSync(pristine, copy, { recursive: true });
      for (const [file, text] of patchedFiles(mutant, pristine)) writeFileSync(join(copy, file), text);
      return copy;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The changed files of a mutant, by path below `root`. A patch that fits nowhere or twice is an error, never skipped. */
export function patchedFiles(mutant: Mutant, root: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { file, find, replace } of mutant.patches) {
    const path = join(root, file);
    const text = texts.get(file) ?? (existsSync(path) ? readFileSync(path, "utf8") : "");
    const count = text.split(find).length - 1;
    if (count !== 1) {
      throw new Error(
        `Mutant '${mutant.name}': its text stands ${count} times in src/${file}, expected once. Bring the patch up to date:\n${find}`,
      );
    }
    texts.set(
      file,
      text.replace(find, () => replace),
    );
  }
  return texts;
}
