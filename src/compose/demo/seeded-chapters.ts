import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** A part of the demo that is declared together; later versions add to the end. */
export type Chapter = "dns" | "clouds" | "groups";

/** Which chapters of the demo were declared to their end, beside the simulated outside that they speak of. */
export class SeededChapters {
  readonly #file: string;
  readonly #seeded: Set<string>;
  /** Nobody has written anything down here: the demo is new, or from before there were chapters. */
  readonly areUnknown: boolean;

  constructor(folder: string) {
    this.#file = join(folder, "chapters.json");
    this.areUnknown = !existsSync(this.#file);
    // A later version may have chapters that this one does not know, and goes on from there.
    this.#seeded = new Set(
      this.areUnknown ? [] : z.array(z.string()).parse(JSON.parse(readFileSync(this.#file, "utf8"))),
    );
  }

  has(name: Chapter): boolean {
    return this.#seeded.has(name);
  }

  add(...names: readonly Chapter[]): void {
    for (const name of names) this.#seeded.add(name);
    writeFileSync(`${this.#file}.new`, JSON.stringify([...this.#seeded]));
    renameSync(`${this.#file}.new`, this.#file);
  }
}
