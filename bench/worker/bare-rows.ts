import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import { inTurns } from "./stage.ts";

/** The same durable effect without anything around it: begun, one step, another, and ended. */
export class BareRows {
  readonly #pool: Pool;
  #made: Promise<unknown> | undefined;

  constructor(url: string) {
    this.#pool = new Pool({ connectionString: url, max: 8 });
  }

  async write(rows: number, atOnce: number): Promise<void> {
    this.#made ??= this.#pool.query(
      "create table if not exists bare (id text primary key, state text, first json, second json)",
    );
    await this.#made;
    const ids = Array.from({ length: rows }, () => randomUUID());
    await inTurns(ids, atOnce, async (id) => {
      await this.#write("begin", "insert into bare (id, state) values ($1, 'running')", id);
      await this.#write("first", "update bare set first = $2 where id = $1", id, '{"value":2}');
      await this.#write("second", "update bare set second = $2 where id = $1", id, '{"value":3}');
      await this.#write("end", "update bare set state = 'done' where id = $1", id);
    });
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  async #write(name: string, text: string, ...values: readonly string[]): Promise<void> {
    await this.#pool.query({ name, text, values: [...values] });
  }
}
