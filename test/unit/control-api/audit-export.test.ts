import assert from "node:assert/strict";
import { test } from "node:test";
import { epochMsOf, isoTime } from "../../../src/kernel/iso-time.ts";
import type { AuditScope } from "../../../src/ports/audit-store.ts";
import type { LogPoint, SealedEntry } from "../../../src/ports/read-store.ts";
import { csvLine } from "../../../src/control-api/audit/csv.ts";
import { exportCsv } from "../../../src/control-api/audit/export.ts";
import { ExportVerifier } from "../../../src/control-api/schemas/audit-export.ts";
import { chainHash } from "../../../src/store/seal-chain.ts";
import { exportOf, makeLog, nobody, scopes, storeOf } from "../../support/audit-log.ts";

function check(lines: readonly string[], head?: LogPoint) {
  const verifier = new ExportVerifier(head);
  for (const line of lines) verifier.take(line);
  return verifier.result();
}

test("an export proves itself, whole or of one tenant, empty or long", async () => {
  for (const count of [0, 1, 2, 7, 1_201])
    for (const scope of scopes) {
      const lines = await exportOf(makeLog(count), scope);
      const checked = check(lines);
      assert.ok(checked.holds, JSON.stringify(checked));
      assert.deepEqual([checked.complete, checked.entries], [true, lines.length - 2]);
    }
});

test("a part that retention has left says behind what it begins", async () => {
  const lines = await exportOf(makeLog(30).slice(10), { organizationId: "one" });
  const checked = check(lines);
  assert.ok(checked.holds);
  assert.equal(checked.after?.position, 10);
});

test("any changed, removed, doubled or inserted letter is found, at every place of an export", async () => {
  for (const scope of ["platform", { organizationId: "one" }] as const) {
    const lines = await exportOf(makeLog(4), scope);
    const text = lines.join("\n");
    for (let index = 0; index < text.length; index++) {
      const letter = text[index] ?? "";
      const other = letter === "1" ? "2" : "1";
      const changes = [
        text.slice(0, index) + other + text.slice(index + 1),
        text.slice(0, index) + text.slice(index + 1),
        text.slice(0, index) + letter + text.slice(index),
        `${text.slice(0, index)} ${text.slice(index)}`,
      ];
      for (const changed of changes)
        if (changed !== text)
          assert.equal(
            check(changed.split("\n")).holds,
            false,
            `at ${index}: ${changed.slice(index - 20, index + 20)}`,
          );
    }
  }
});

test("any line that is removed, doubled, swapped or taken from elsewhere is found", async () => {
  const other = await exportOf(makeLog(40, "eve@example.org"), { organizationId: "two" });
  for (const scope of scopes) {
    const lines = await exportOf(makeLog(24), scope);
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index] ?? "";
      const changes = [
        lines.toSpliced(index, 1),
        lines.toSpliced(index, 0, line),
        lines.toSpliced(index, 1, other[3] ?? ""),
        ...lines.slice(index + 1).map((later, at) => lines.with(index, later).with(index + 1 + at, line)),
      ];
      for (const changed of changes)
        assert.equal(check(changed).holds, false, `${JSON.stringify(scope)} line ${index}`);
      assert.equal(check(lines.slice(0, index)).holds, false, "a cut tail");
    }
  }
});

/** What somebody who knows how exports are made would do: leave the newest out and write a new end. */
async function cutTail(log: readonly SealedEntry[], scope: AuditScope, keep: number): Promise<readonly string[]> {
  return exportOf(log.slice(0, keep), scope);
}

test("a tail that was cut with care shows against a head that was noted elsewhere", async () => {
  const log = makeLog(30);
  for (const scope of scopes) {
    const lines = await exportOf(log, scope);
    const whole = check(lines);
    assert.ok(whole.holds && whole.last !== undefined);
    assert.equal(check(lines, whole.last).holds, true);
    for (let keep = 0; keep < 27; keep++) {
      const cut = await cutTail(log, scope, keep);
      assert.equal(check(cut).holds, true, "by itself it is a good export of an earlier time");
      assert.equal(check(cut, whole.last).holds, false, `kept ${keep}`);
    }
  }
});

test("an entry that was sealed anew after an edit does not fit what follows", async () => {
  const log = makeLog(20);
  for (let index = 0; index < log.length; index++) {
    const entry = log[index];
    assert.ok(entry);
    const forged = { ...entry, actor: "somebody else" };
    const resealed = { ...forged, hash: chainHash(forged) };
    const lines = (await exportOf(log.with(index, resealed), "platform")).slice(0, -1);
    const honest = await exportOf(log, "platform");
    const changed = check([...lines, honest.at(-1) ?? ""]);
    assert.equal(changed.holds, false, `entry ${index + 1}`);
  }
});

test("a filtered export shows that its entries are genuine and claims no more", async () => {
  const log = makeLog(12);
  const lines = await exportOf(log, "platform", { ...nobody, type: "resource." });
  const checked = check(lines);
  assert.ok(checked.holds && !checked.complete && checked.entries === 6);
  assert.equal(check(lines, checked.last).holds, false, "it cannot stand for the whole");
  assert.equal(check(lines.with(2, (lines[2] ?? "").replace("ada@", "eve@"))).holds, false);
});

test("CSV quotes everything and lets no spreadsheet run anything", async () => {
  assert.equal(csvLine(["a", 'say "hi"', undefined, 7]), '"a","say ""hi""","","7"\r\n');
  for (const bad of ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "＝1", "|x", "%x"])
    assert.ok(csvLine([bad]).startsWith(`"'`), JSON.stringify(bad));
  assert.equal(csvLine([-5]), '"-5"\r\n', "a number is a number");
  const lines: string[] = [];
  const log = makeLog(3);
  const upTo = { position: 3, hash: "" };
  for await (const line of exportCsv({ store: storeOf(log), scope: "platform", filter: nobody, upTo, nowMs: 0 }))
    lines.push(line);
  assert.equal(lines.length, 4);
  assert.match(lines[1] ?? "", /^"1","2023-11-14T22:13:20.000Z","resource.created","ada@example.org","person"/);
});

test("times are read back as they were written", () => {
  for (const ms of [0, 951_782_399_999, 951_782_400_000, 1_709_164_800_000, 4_102_444_799_999, 253_402_300_799_999])
    assert.equal(epochMsOf(isoTime(ms)), ms);
  assert.equal(epochMsOf("2026-11-16T00:00:00Z"), Date.UTC(2026, 10, 16));
  assert.equal(epochMsOf("2026-11-16T00:00Z"), Date.UTC(2026, 10, 16));
  assert.equal(epochMsOf("2026-11-16T00:00:00.5Z"), Date.UTC(2026, 10, 16) + 500);
});
