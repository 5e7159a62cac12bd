import type { Thing } from "../outside/outside.ts";
import type { SimProcess } from "../process.ts";
import { type Look, Violation } from "./witness.ts";

/** Looks to remember of each process and account; a cycle never rests on older ones. */
const looksMax = 60;

/** What every process was shown of each thing: by listings, and by the read right before a delete. */
export class Sights {
  readonly #looks = new Map<string, ReadonlyMap<string, string>[]>();
  readonly #reads = new Map<string, string>();

  looked(process: SimProcess, accountId: string, { contents }: Look): void {
    if (contents === undefined) return;
    const key = `${process.number} ${accountId}`;
    const looks = this.#looks.get(key) ?? [];
    looks.push(contents);
    if (looks.length > looksMax) looks.shift();
    this.#looks.set(key, looks);
  }

  readOne(process: SimProcess, id: string, content: string): void {
    this.#reads.set(`${process.number} ${id}`, content);
  }

  /** What is deleted is what some look showed, or somebody has changed it since its delete was decided. */
  judgeDelete(process: SimProcess, accountId: string, thing: Thing): void {
    const read = this.#reads.get(`${process.number} ${thing.id}`);
    const looks = this.#looks.get(`${process.number} ${accountId}`) ?? [];
    if (read === undefined || looks.some((contents) => contents.get(thing.id) === read)) return;
    throw new Violation("evidence", `${process.name} deletes ${thing.id}, read as '${read}', which no look has shown`);
  }
}
