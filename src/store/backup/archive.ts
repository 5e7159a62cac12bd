import { createHash, type Hash } from "node:crypto";
import { BackupError } from "./backup-error.ts";
import type { ByteReader } from "./byte-reader.ts";
import { type Manifest, manifestSchema, tableStartSchema } from "./manifest.ts";

/** What is inside the encryption: tables one after the other, each in blocks, then the manifest. */
export interface TableSource {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Uint8Array>;
}

/** Who takes the tables of an archive. Each is read to its end before the next one comes. */
export type TableSink = (table: string, columns: readonly string[], rows: AsyncIterable<Buffer>) => Promise<void>;

const blockBytes = 64 * 1024;
const manifestBytesAtMost = 16 * 1024 * 1024;

export async function* writeArchive(
  tables: AsyncIterable<TableSource>,
  about: Omit<Manifest, "tables">,
): AsyncGenerator<Buffer, void, undefined> {
  const written: Manifest["tables"] = [];
  for await (const { table, columns, rows } of tables) {
    yield line({ table, columns });
    const count = new TableCount();
    for await (const block of inBlocks(rows)) {
      count.add(block);
      yield Buffer.concat([lengthOf(block.length), block]);
    }
    yield lengthOf(0);
    written.push({ table, ...count.total() });
  }
  yield line({ manifest: { tables: written, ...about } });
}

/** The database sends row by row; one step of the pipeline for each would cost more than the rows. */
async function* inBlocks(rows: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of rows) {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes < blockBytes) continue;
    yield Buffer.concat(parts);
    parts = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(parts);
}

/** Reads an archive to its end and answers with its manifest, which every table has been compared with. */
export async function readArchive(reader: ByteReader, sink: TableSink): Promise<Manifest> {
  const seen: Manifest["tables"] = [];
  for (;;) {
    const next = JSON.parse(await reader.line(manifestBytesAtMost)) as Record<string, unknown>;
    if ("manifest" in next) {
      if (!(await reader.ended())) throw new BackupError("There is something behind the manifest of the backup");
      return requireSame(manifestSchema.parse(next["manifest"]), seen);
    }
    const { table, columns } = tableStartSchema.parse(next);
    const count = new TableCount();
    await sink(table, columns, blocksOf(reader, count));
    seen.push({ table, ...count.total() });
  }
}

async function* blocksOf(reader: ByteReader, count: TableCount): AsyncGenerator<Buffer, void, undefined> {
  for (;;) {
    const length = (await reader.take(4)).readUInt32BE();
    if (length === 0) return;
    const block = await reader.take(length);
    count.add(block);
    yield block;
  }
}

function requireSame(manifest: Manifest, seen: Manifest["tables"]): Manifest {
  for (const [index, expected] of manifest.tables.entries()) {
    const found = seen[index];
    if (found?.table === expected.table && found.rows === expected.rows && found.sha256 === expected.sha256) continue;
    throw new BackupError(
      `Table ${expected.table} should have ${expected.rows} rows and has ${found?.rows ?? 0}, or other ones: the backup is damaged`,
    );
  }
  if (seen.length !== manifest.tables.length) throw new BackupError("The backup has tables that its manifest lacks");
  return manifest;
}

/** Rows are lines: COPY escapes every line end inside of a value. */
class TableCount {
  readonly #hash: Hash = createHash("sha256");
  #rows = 0;
  #bytes = 0;

  add(block: Buffer): void {
    this.#hash.update(block);
    this.#bytes += block.length;
    for (let at = block.indexOf(0x0a); at !== -1; at = block.indexOf(0x0a, at + 1)) this.#rows++;
  }

  total(): { readonly rows: number; readonly bytes: number; readonly sha256: string } {
    return { rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}

function line(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`, "utf8");
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes);
  return length;
}
