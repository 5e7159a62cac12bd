import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { readArchive, type TableSink, writeArchive, type TableSource } from "./archive.ts";
import { BackupError } from "./backup-error.ts";
import { ByteReader } from "./byte-reader.ts";
import { type BackupHeader, headerSchema, type Manifest } from "./manifest.ts";
import { keyOfFile, type NamedRootKey } from "./root-keys.ts";
import { fileKey, firstChunkBytesAtMost, seal, unseal } from "./sealed-chunks.ts";

const headerBytesAtMost = 8_192;

/** Written under another name first: what has the asked-for name is whole. Readable by its owner alone. */
export async function writeBackupFile(
  file: string,
  content: {
    readonly header: BackupHeader;
    readonly rootKey: NamedRootKey;
    readonly tables: AsyncIterable<TableSource>;
    readonly about: Omit<Manifest, "tables">;
  },
): Promise<void> {
  const { header, rootKey, tables, about } = content;
  const text = JSON.stringify({ ...header, rootKeyId: rootKey.id });
  const key = fileKey(rootKey.key, Buffer.from(header.salt, "base64"));
  const partial = `${file}.partial`;
  await requireAbsent(file);
  try {
    const archive = Readable.from(writeArchive(tables, about), { objectMode: false });
    const sealing = async function* (compressed: AsyncIterable<Buffer>) {
      yield Buffer.from(`${text}\n`, "utf8");
      yield* seal(compressed, key, text);
    };
    await pipeline(
      archive,
      createGzip({ level: 6 }),
      sealing,
      createWriteStream(partial, { mode: 0o600, flush: true }),
    );
    await rename(partial, file);
  } catch (thrown) {
    await rm(partial, { force: true });
    throw thrown;
  }
}

/** Reads a file to its end; whatever is wrong with it is an error that says where. */
export async function readBackupFile(
  file: string,
  rootKeys: readonly NamedRootKey[],
  sink: TableSink,
): Promise<{ readonly header: BackupHeader; readonly manifest: Manifest }> {
  await requireReadable(file);
  const source = new ByteReader(createReadStream(file, { highWaterMark: 256 * 1024 }));
  const text = await source.line(headerBytesAtMost);
  const header = parsedHeader(file, text);
  const first = await firstChunk(file, Buffer.byteLength(text) + 1);
  const key = keyOfFile({ file, header, text, first }, rootKeys);
  const { promise, resolve } = Promise.withResolvers<Manifest>();
  await pipeline(
    Readable.from(unseal(source, key, text), { objectMode: false }),
    createGunzip(),
    async (archive: AsyncIterable<Buffer>) => resolve(await readArchive(new ByteReader(archive), sink)),
  );
  return { header, manifest: await promise };
}

async function firstChunk(file: string, start: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of createReadStream(file, { start, end: start + firstChunkBytesAtMost - 1 }))
    parts.push(part as Buffer);
  return Buffer.concat(parts);
}

export async function readBackupHeader(file: string): Promise<BackupHeader> {
  await requireReadable(file);
  const source = createReadStream(file, { end: headerBytesAtMost });
  try {
    return parsedHeader(file, await new ByteReader(source).line(headerBytesAtMost));
  } finally {
    source.destroy();
  }
}

function parsedHeader(file: string, text: string): BackupHeader {
  try {
    return headerSchema.parse(JSON.parse(text));
  } catch (thrown) {
    throw new BackupError(`${file} is not a backup that this version of Setpoint can read`, { cause: thrown });
  }
}

async function requireReadable(file: string): Promise<void> {
  try {
    await (await open(file, "r")).close();
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code ?? String(thrown);
    const reason = code === "ENOENT" ? "there is no such file" : code;
    throw new BackupError(`${file} cannot be read (${reason}). Name the file that setpoint backup create wrote`, {
      cause: thrown,
    });
  }
}

async function requireAbsent(file: string): Promise<void> {
  try {
    await (await open(file, "r")).close();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return;
    throw thrown;
  }
  throw new BackupError(`${file} exists already. Nothing was written; choose another name`);
}
