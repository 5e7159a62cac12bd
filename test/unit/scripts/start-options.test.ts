import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readStartOptions, setAside } from "../../../scripts/start-options.mjs";

const root = mkdtempSync(join(tmpdir(), "setpoint-start-"));
after(() => rmSync(root, { recursive: true }));
const now = new Date("2026-01-02T03:04:05.678Z");

test("npm start takes --empty, --reset and --debug, and starts nothing for a word that it does not know", () => {
  assert.deepEqual(readStartOptions([]), { demo: true, reset: false, help: false, passedOn: [] });
  assert.deepEqual(readStartOptions(["--reset", "--empty", "--debug"]), {
    demo: false,
    reset: true,
    help: false,
    passedOn: ["--debug"],
  });
  const typo = readStartOptions(["--emtpy"]);
  assert.ok("problem" in typo && typo.problem.includes('"--emtpy"') && typo.problem.includes("-- --empty"));
});

const gone = 4_999_999; // No process has this number: the largest that Linux gives is 4,194,304.

function dataFolder(name: string): string {
  const data = join(root, name);
  mkdirSync(join(data, "postgres", "postgres"), { recursive: true });
  return data;
}

test("a reset puts the data folder aside, and deletes nothing", () => {
  assert.deepEqual(setAside(join(root, "none"), now), {}, "there is nothing yet");
  const data = dataFolder("data");
  writeFileSync(join(data, "postgres", "postgres", "postmaster.pid"), `${gone}\n`);
  assert.deepEqual(setAside(data, now), { aside: `${data}-2026-01-02T030405` });
  assert.ok(existsSync(`${data}-2026-01-02T030405/postgres/postgres/postmaster.pid`), "with everything in it");
  assert.equal(existsSync(data), false);
});

test("a data folder whose database runs is left alone, wherever the database is", () => {
  const [data, elsewhere] = [dataFolder("busy"), dataFolder("elsewhere")];
  const lock = join(data, "postgres", "postgres", "postmaster.pid");
  writeFileSync(lock, `${process.pid}\n${data}\n`);
  assert.match(setAside(data, now).problem ?? "", /is in use/);
  assert.ok(existsSync(lock), "it stayed where it was");

  writeFileSync(lock, `${gone}\n`);
  writeFileSync(join(data, "postgres", "setpoint-data-location"), `${join(elsewhere, "postgres")}\n`);
  writeFileSync(join(elsewhere, "postgres", "postgres", "postmaster.pid"), `${process.pid}\n`);
  assert.match(setAside(data, now).problem ?? "", /is in use/);
});
