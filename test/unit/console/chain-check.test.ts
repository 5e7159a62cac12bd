import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type ChainResult, checkChain, sortedJson } from "../../../console/src/pages/audit/chain-check.ts";
import { ExportVerifier } from "../../../src/control-api/schemas/audit-export.ts";
import { canonical } from "../../../src/kernel/hash.ts";
import type { LogPoint } from "../../../src/ports/read-store.ts";
import { exportOf, makeLog, scopes } from "../../support/audit-log.ts";
import { holds } from "../../support/properties.ts";

/** In parts that end anywhere, as a network brings them. */
async function* partsOf(text: string, bytesEach: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let start = 0; start < bytes.length; start += bytesEach) yield bytes.subarray(start, start + bytesEach);
}

function inBrowser(text: string, noted?: LogPoint, bytesEach = 997): Promise<ChainResult> {
  return checkChain(partsOf(text, bytesEach), noted, () => {});
}

function onCommandLine(text: string) {
  const verifier = new ExportVerifier();
  for (const line of text.replace(/\n$/, "").split("\n")) verifier.take(line);
  return verifier.result();
}

async function requireSameAnswer(text: string, where: string): Promise<ChainResult> {
  const [browser, commandLine] = [await inBrowser(text), onCommandLine(text)];
  assert.equal(browser.holds, commandLine.holds, where);
  if (!browser.holds && !commandLine.holds) assert.equal(browser.reason, commandLine.reason, where);
  return browser;
}

test("a whole record holds, and says how many entries there are, from where to where", async () => {
  for (const count of [0, 1, 7, 601])
    for (const scope of scopes) {
      const lines = await exportOf(makeLog(count), scope);
      const result = await requireSameAnswer(`${lines.join("\n")}\n`, `${count} entries`);
      assert.ok(result.holds);
      const entries = lines.slice(1, -1).map((line) => JSON.parse(line) as LogPoint & { readonly atMs: number });
      assert.equal(result.entries, entries.length);
      assert.deepEqual(
        [result.first?.position, result.last?.position, result.last?.hash, result.last?.atMs],
        [entries[0]?.position, entries.at(-1)?.position, entries.at(-1)?.hash, entries.at(-1)?.atMs],
      );
    }
});

test("any changed, removed, doubled or inserted letter is found, with the words of the command line", async () => {
  const text = `${(await exportOf(makeLog(4), { organizationId: "one" })).join("\n")}\n`;
  for (let index = 0; index < text.length - 1; index++) {
    const letter = text[index] ?? "";
    const changes = [
      text.slice(0, index) + (letter === "1" ? "2" : "1") + text.slice(index + 1),
      text.slice(0, index) + text.slice(index + 1),
      text.slice(0, index) + letter + text.slice(index),
    ];
    for (const changed of changes)
      if (changed !== text) {
        const result = await requireSameAnswer(changed, `at ${index}`);
        assert.equal(result.holds, false, `at ${index}: ${changed.slice(index - 20, index + 20)}`);
      }
  }
});

test("lines that are removed, doubled or swapped are found, and the first entry that does not fit is named", async () => {
  for (const scope of scopes) {
    const lines = await exportOf(makeLog(24), scope);
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index] ?? "";
      const next = lines[index + 1];
      for (const changed of [
        lines.toSpliced(index, 1),
        lines.toSpliced(index, 0, line),
        ...(next === undefined ? [] : [lines.with(index, next).with(index + 1, line)]),
      ])
        assert.equal((await requireSameAnswer(changed.join("\n"), `line ${index}`)).holds, false);
    }
  }
  const lines = await exportOf(makeLog(24), "platform");
  const broken = await inBrowser(lines.with(5, (lines[5] ?? "").replace("ada@", "eve@")).join("\n"));
  assert.ok(!broken.holds);
  assert.deepEqual(
    [broken.entry?.position, broken.entry?.actor, broken.upTo?.position, broken.entries],
    [5, "eve@example.org", 4, 4],
  );
});

test("bytes that are no text are found", async () => {
  const bytes = new TextEncoder().encode((await exportOf(makeLog(3), "platform")).join("\n"));
  bytes[bytes.indexOf(0x0a) + 40] = 0xff;
  const result = await checkChain(
    (async function* () {
      yield bytes;
    })(),
    undefined,
    () => {},
  );
  assert.ok(!result.holds);
  assert.match(result.reason, /not JSON/);
});

test("a tail that was cut with care, and a record that was written anew, show against an end that was noted", async () => {
  const log = makeLog(30);
  const whole = `${(await exportOf(log, "platform")).join("\n")}\n`;
  const result = await inBrowser(whole);
  assert.ok(result.holds && result.last !== undefined && !result.compared);
  const { position, hash } = result.last;
  const again = await inBrowser(whole, { position, hash });
  assert.ok(again.holds && again.compared);
  const older = await inBrowser(whole, { position: 12, hash: log[11]?.hash ?? "" });
  assert.ok(older.holds && older.compared, "what came later changes nothing");
  for (const keep of [0, 1, 29]) {
    const cut = (await exportOf(log.slice(0, keep), "platform")).join("\n");
    assert.equal((await inBrowser(cut)).holds, true, "by itself it is a good record of an earlier time");
    const compared = await inBrowser(cut, { position, hash });
    assert.ok(!compared.holds);
    assert.match(compared.reason, /cut off/);
  }
  const forged = (await exportOf(makeLog(40, "eve@example.org"), "platform")).join("\n");
  const compared = await inBrowser(forged, { position, hash });
  assert.ok(!compared.holds && compared.entry?.position === 30);
  assert.match(compared.reason, /written anew/);
});

test("what retention has removed is said, and is no fault", async () => {
  const log = makeLog(30);
  const kept = (await exportOf(log.slice(10), "platform")).join("\n");
  const result = await inBrowser(kept, { position: 5, hash: log[4]?.hash ?? "" });
  assert.ok(result.holds && !result.compared, "what was noted is not there any more to be compared");
  assert.equal(result.after?.position, 10);
});

test("values are hashed in the form in which they are sealed", () => {
  holds(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const parsed: unknown = JSON.parse(JSON.stringify(value));
      assert.equal(sortedJson(parsed), canonical(parsed));
    }),
  );
});
