import assert from "node:assert/strict";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { claimDirectory } from "../../../src/store/embedded/locks.ts";
import { identityOfThisProcess, isPostmasterOf, stateOf } from "../../../src/store/embedded/process-table.ts";
import { startEmbeddedServer } from "../../../src/store/embedded/server.ts";
import { copyOfTemplate, QUICK_SETTINGS, query, startTestServer, temporaryFolder } from "../../support/postgres.ts";
import { spawnTalking, type TalkingProcess, until } from "../../support/processes.ts";

const CHILD = path.join(import.meta.dirname, "../../support/embedded-server-child.ts");
const NEVER_ANSWERS = () => Promise.resolve(false);

test("a data directory in use is refused with the process to stop, and its server goes on", async () => {
  await using db = await startTestServer();
  await using second = spawnTalking(process.execPath, [CHILD, db.server.dataDirectory]);
  const { error } = JSON.parse(await second.firstLine) as { error: string };
  assert.match(error, new RegExp(`in use by another Setpoint, process ${process.pid}\\. Stop that one first`));
  assert.match(error, new RegExp(db.server.dataDirectory));

  await assert.rejects(
    startEmbeddedServer({ dataDirectory: db.server.dataDirectory, log: () => undefined }),
    { code: "DATA_DIRECTORY_IN_USE", message: /in use by this process/ },
    "not twice in one process either",
  );
  assert.deepEqual(await query(db.url, "select 1 as one"), [{ one: 1 }]);
});

test("of many processes that start at once on one directory, at most one gets it", async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  await using stack = new AsyncDisposableStack();
  const children = [1, 2, 3, 4].map(() => stack.use(spawnTalking(process.execPath, [CHILD, dataDirectory])));
  const answers = await Promise.all(children.map(({ firstLine }) => firstLine));
  const started = answers.filter((line) => "url" in (JSON.parse(line) as object));
  const refused = answers.filter((line) => line.includes("in use by another Setpoint"));
  assert.equal(refused.length, 3, answers.join("\n"));
  assert.equal(started.length, 1, answers.join("\n"));
});

test("claims of the dead are cleared, also when another process has their id now; claims of the living hold", async () => {
  using folder = temporaryFolder();
  await using living = await sleeper();
  const me = identityOfThisProcess();
  const claims = path.join(folder.path, "claims");
  mkdirSync(claims);
  const put = (pid: number, startTicks: number, place = me.place) =>
    writeFileSync(path.join(claims, `${pid}.${startTicks}.${place}`), "");

  put(await endedPid(), 1);
  put(living.pid, 1);
  put(living.pid, startTicksOf(living.pid), "othercontain");
  const claim = await claimDirectory(folder.path, NEVER_ANSWERS);
  assert.deepEqual(readdirSync(claims), [`${me.pid}.${me.startTicks}.${me.place}`]);
  claim[Symbol.dispose]();
  assert.deepEqual(readdirSync(claims), []);

  put(living.pid, startTicksOf(living.pid), "othercontain");
  await assert.rejects(
    claimDirectory(folder.path, () => Promise.resolve(true)),
    { code: "DATA_DIRECTORY_IN_USE" },
  );
  put(living.pid, startTicksOf(living.pid));
  await assert.rejects(claimDirectory(folder.path, NEVER_ANSWERS), {
    code: "DATA_DIRECTORY_IN_USE",
    message: new RegExp(`process ${living.pid}\\b`),
  });
  assert.ok(existsSync(path.join(claims, `${living.pid}.${startTicksOf(living.pid)}.${me.place}`)), "untouched");
});

test("PostgreSQL's own locks of a dead process do not stop a start", (t) => startsDespite(t, String(99_999_999)));

test("locks whose process id belongs to a stranger now are cleared, and the stranger lives", async (t) => {
  await using living = await sleeper();
  await startsDespite(t, String(living.pid));
  assert.equal(stateOf(living.pid), "running");
});

test("locks of a zombie are cleared", async (t) => {
  await using parent = await zombieParent();
  assert.equal(stateOf(parent.pid), "zombie");
  await startsDespite(t, String(parent.pid));
});

test("locks torn by a crash while they were written are cleared", (t) => startsDespite(t, ""));

test("a server is told from any other process by its program and its data directory", async () => {
  await using db = await startTestServer();
  const pgData = path.join(db.server.dataDirectory, "postgres");
  const pid = Number.parseInt(readFileSync(path.join(pgData, "postmaster.pid"), "utf8"), 10);
  assert.equal(isPostmasterOf(pid, pgData), true);
  assert.equal(isPostmasterOf(pid, path.dirname(pgData)), false);
  assert.equal(isPostmasterOf(process.pid, pgData), false);
});

/** Puts lock files with that first line where a killed server would have left them, and starts. */
async function startsDespite(t: TestContext, firstLine: string): Promise<void> {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  const pgData = path.join(dataDirectory, "postgres");
  const lock = firstLine === "" ? "" : `${firstLine}\n${pgData}\n1700000000\n5432\n${dataDirectory}/socket\n\n`;
  for (const file of [path.join(pgData, "postmaster.pid"), path.join(dataDirectory, "socket", ".s.PGSQL.5432.lock")]) {
    writeFileSync(file, lock, { mode: 0o600 });
    chownSync(file, statSync(pgData).uid, statSync(pgData).gid);
  }
  t.diagnostic(`first line of the locks: "${firstLine}"`);
  await using server = await startEmbeddedServer({ dataDirectory, log: () => undefined, settings: QUICK_SETTINGS });
  assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
}

async function sleeper(): Promise<TalkingProcess & { readonly pid: number }> {
  const process = spawnTalking("/bin/sh", ["-c", "echo $$; exec sleep 1000"]);
  return { ...process, pid: Number(await process.firstLine) };
}

/** Its child has ended, and it never asks how: `pid` is that child, which outlives the shell that might have asked. */
async function zombieParent(): Promise<TalkingProcess & { readonly pid: number }> {
  const process = spawnTalking("/bin/sh", ["-c", "sleep 0.3 & echo $!; exec sleep 1000"]);
  const pid = Number(await process.firstLine);
  await until(() => stateOf(pid) === "zombie", "a zombie");
  return { ...process, pid };
}

async function endedPid(): Promise<number> {
  await using process = spawnTalking("/bin/sh", ["-c", "echo $$"]);
  return Number(await process.firstLine);
}

function startTicksOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[19]);
}
