import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { writeArchive } from "../../../src/store/backup/archive.ts";
import { readBackupFile, writeBackupFile } from "../../../src/store/backup/backup-file.ts";
import type { BackupHeader } from "../../../src/store/backup/manifest.ts";
import type { NamedRootKey } from "../../../src/store/backup/root-keys.ts";
import { fileKey, seal } from "../../../src/store/backup/sealed-chunks.ts";

const rootKey = { id: "seven", key: Buffer.alloc(32, 7) };
const eight = { id: "eight", key: Buffer.alloc(32, 8) };
const header: BackupHeader = {
  format: "setpoint-backup/1",
  createdAtMs: 1,
  installationId: "one",
  incarnation: 3,
  schemaVersion: 2,
  salt: Buffer.alloc(32, 1).toString("base64"),
  note: "",
};

type Tables = Readonly<Record<string, readonly string[]>>;

async function written(folder: string, name: string, tables: Tables): Promise<string> {
  const file = join(folder, name);
  const sources = async function* () {
    for (const [table, lines] of Object.entries(tables)) {
      const rows = async function* () {
        for (const line of lines) yield Buffer.from(`${line}\n`);
      };
      yield { table, columns: ["only"], rows: rows() };
    }
  };
  await writeBackupFile(file, { header, rootKey, tables: sources(), about: { migrations: [], sequences: [] } });
  return file;
}

async function archiveOf(tables: Tables): Promise<Buffer> {
  const sources = async function* () {
    for (const [table, lines] of Object.entries(tables)) {
      const rows = async function* () {
        for (const line of lines) yield Buffer.from(`${line}\n`);
      };
      yield { table, columns: ["only"], rows: rows() };
    }
  };
  const parts: Uint8Array[] = [];
  for await (const part of writeArchive(sources(), { migrations: [], sequences: [] })) parts.push(part);
  return Buffer.concat(parts);
}

/** The first files did not name their key: put together as they were. */
async function writtenUnnamed(folder: string, tables: Tables): Promise<string> {
  const text = JSON.stringify(header);
  const plain = gzipSync(await archiveOf(tables));
  const key = fileKey(rootKey.key, Buffer.from(header.salt, "base64"));
  const parts: Buffer[] = [Buffer.from(`${text}\n`)];
  const whole = async function* () {
    yield plain;
  };
  for await (const part of seal(whole(), key, text)) parts.push(part);
  const file = join(folder, "unnamed");
  writeFileSync(file, Buffer.concat(parts));
  return file;
}

async function readBack(file: string, keys: readonly NamedRootKey[] = [rootKey]): Promise<Tables> {
  const found: Record<string, string[]> = {};
  await readBackupFile(file, keys, async (table, _columns, rows) => {
    const parts: Buffer[] = [];
    for await (const part of rows) parts.push(part);
    const text = Buffer.concat(parts).toString();
    found[table] = text === "" ? [] : text.slice(0, -1).split("\n");
  });
  return found;
}

test("a backup file", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-backup-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;

  await t.test("gives back what was put in, whatever its size", async () => {
    const line = fc.string({ maxLength: 200 }).map((text) => text.replaceAll("\n", " "));
    const tables = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.array(line, { maxLength: 50 }), { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(tables, async (wanted) => {
        const file = await written(folder, `round-${count++}`, wanted);
        assert.deepEqual(await readBack(file), { ...wanted });
      }),
      { numRuns: 40 },
    );
    const large = { big: Array.from({ length: 20_000 }, (_, index) => `${index}-${"x".repeat(index % 97)}`) };
    assert.deepEqual(await readBack(await written(folder, "large", large)), large);
  });

  await t.test("is not read when a byte of it is another one, or it was cut anywhere", async () => {
    const file = await written(folder, "whole", { first: ["a", "b"], second: ["c"] });
    const bytes = readFileSync(file);
    const changed = join(folder, "changed");
    for (let at = 0; at < bytes.length; at++) {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 1;
      writeFileSync(changed, copy);
      await assert.rejects(readBack(changed), `a change at ${at} was not noticed`);
      writeFileSync(changed, bytes.subarray(0, at));
      await assert.rejects(readBack(changed), `a cut at ${at} was not noticed`);
    }
    writeFileSync(changed, Buffer.concat([bytes, Buffer.from("more")]));
    await assert.rejects(readBack(changed), /behind the end/);
  });

  await t.test("is not read with another root key, and its plain part holds no row", async () => {
    const file = await written(folder, "keyed", { first: ["a-row-of-ours"] });
    await assert.rejects(
      readBack(file, [eight]),
      /made under the root key seven, and here there is eight\. Put the missing key .* into root\.key/,
    );
    assert.equal(readFileSync(file).includes("a-row-of-ours"), false);
  });

  await t.test("from before a rotation is read with any root key that is still there", async () => {
    const file = await written(folder, "older", { first: ["a"] });
    assert.deepEqual(await readBack(file, [eight, rootKey]), { first: ["a"] });
    const unnamed = await writtenUnnamed(folder, { first: ["b"] });
    assert.deepEqual(await readBack(unnamed, [eight, rootKey]), { first: ["b"] });
    await assert.rejects(readBack(unnamed, [eight]), /damaged, or it was made under another root key than eight/);
  });

  await t.test("that is not there is named", async () => {
    await assert.rejects(readBack(join(folder, "nowhere")), /nowhere cannot be read \(there is no such file\)/);
  });

  await t.test("never replaces a file", async () => {
    const file = await written(folder, "kept", { first: ["a"] });
    await assert.rejects(written(folder, "kept", { first: ["b"] }), /exists already/);
    assert.deepEqual(await readBack(file), { first: ["a"] });
  });
});
