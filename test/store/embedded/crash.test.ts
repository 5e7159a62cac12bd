import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { stateOf } from "../../../src/store/embedded/process-table.ts";
import { type EmbeddedServerOptions, startEmbeddedServer } from "../../../src/store/embedded/server.ts";
import { copyOfTemplate, QUICK_SETTINGS, query, temporaryFolder } from "../../support/postgres.ts";
import { spawnTalking, until } from "../../support/processes.ts";

interface ReadyChild {
  readonly serverPid: number;
  readonly guardPid: number;
  readonly url: string;
}

const CHILD = path.join(import.meta.dirname, "../../support/embedded-server-child.ts");

/** Remembers the process ids of the latest run of the server. */
function watchedOptions(dataDirectory: string) {
  const events: { event: string; fields: Record<string, unknown> }[] = [];
  const options: EmbeddedServerOptions = {
    dataDirectory,
    settings: QUICK_SETTINGS,
    log: (event, fields = {}) => events.push({ event, fields }),
  };
  const serverPid = () => Number(events.findLast(({ event }) => event === "embedded-postgres.ready")?.fields["pid"]);
  return { options, events, serverPid };
}

test("kill -9 of the server: the supervisor brings it back at the same URL with every committed row", async () => {
  using folder = temporaryFolder();
  const { options, serverPid } = watchedOptions(await copyOfTemplate(folder.path));
  await using server = await startEmbeddedServer(options);
  const { url } = server;
  await query(url, "create table acknowledged (n int)");
  const seen: string[] = [];

  for (const n of [1, 2, 3]) {
    const killed = serverPid();
    const told = Promise.withResolvers<void>();
    server.onExit((reason, next) => {
      seen.push(`${reason} ${next}`);
      told.resolve();
    });
    await query(url, "insert into acknowledged values ($1)", [n]);
    process.kill(killed, "SIGKILL");
    await told.promise;
    await server.whenReady();

    assert.notEqual(serverPid(), killed);
    assert.equal(server.url, url);
    assert.match(seen[0] ?? "", new RegExp(`^process ${killed} ended with signal SIGKILL restarting$`));
    seen.length = 0;
  }
  assert.deepEqual(await query(url, "select array_agg(n order by n) as all from acknowledged"), [{ all: [1, 2, 3] }]);
});

test("kill -9 of the server while a long query runs: its children are ended before the new server starts", async () => {
  using folder = temporaryFolder();
  const { options, serverPid } = watchedOptions(await copyOfTemplate(folder.path));
  await using server = await startEmbeddedServer(options);
  const busy = query(server.url, "select count(*) from generate_series(1, 1000000000000)").catch(() => undefined);
  const running = "select 1 from pg_stat_activity where query like '%generate_series%' and pid <> pg_backend_pid()";
  await until(async () => (await query(server.url, running)).length === 1, "the long query to run");

  const told = new Promise<void>((resolve) => server.onExit(() => resolve()));
  process.kill(serverPid(), "SIGKILL");
  await told;
  await server.whenReady();
  await busy;
  assert.deepEqual(await query(server.url, running), []);
});

test("a server that cannot come back is given up with its own words; once that is corrected it starts again", async () => {
  using folder = temporaryFolder();
  const { options, serverPid } = watchedOptions(await copyOfTemplate(folder.path));
  await using server = await startEmbeddedServer({ ...options, restartLimit: 2 });
  const told = Promise.withResolvers<string>();
  server.onExit((reason, next) => {
    if (next === "gave-up") told.resolve(reason);
  });
  const version = path.join(server.dataDirectory, "postgres", "PG_VERSION");
  writeFileSync(version, "eighteen\n");
  process.kill(serverPid(), "SIGKILL");
  assert.match(await told.promise, /did not start; .*is not a valid data directory/);
  await assert.rejects(server.whenReady(), {
    code: "START_FAILED",
    message: /keeps ending: .*not a valid data directory/,
  });
  await server.stop();
  assert.deepEqual(readdirSync(path.join(server.dataDirectory, "claims")), []);

  writeFileSync(version, "18\n");
  await using again = await startEmbeddedServer(options);
  assert.deepEqual(await query(again.url, "select 1 as one"), [{ one: 1 }]);
});

test("stop during a restart ends it: no process is left and the directory is free", async () => {
  using folder = temporaryFolder();
  const { options, serverPid } = watchedOptions(await copyOfTemplate(folder.path));
  const server = await startEmbeddedServer(options);
  const first = serverPid();
  const told = new Promise<void>((resolve) => server.onExit(() => resolve()));
  process.kill(first, "SIGKILL");
  await told;
  await server.stop();
  await assert.rejects(server.whenReady(), /was stopped/);
  assert.deepEqual(readdirSync(path.join(server.dataDirectory, "claims")), []);
  await using again = await startEmbeddedServer(options);
  assert.deepEqual(await query(again.url, "select 1 as one"), [{ one: 1 }]);
});

test("kill -9 of the parent and of the guard leaves an orphan, which the next start takes over with its rows", async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  const { serverPid, url } = await runAndKill(dataDirectory, { guardToo: true });
  assert.equal(stateOf(serverPid), "running", "the server outlived its parent");
  assert.deepEqual(await query(url, "select n from kept"), [{ n: 1 }], "and still serves");

  const { options, events } = watchedOptions(dataDirectory);
  await using server = await startEmbeddedServer(options);
  assert.notEqual(stateOf(serverPid), "running");
  assert.deepEqual(
    events.filter(({ event }) => event === "embedded-postgres.taking-over").map(({ fields }) => fields["pid"]),
    [serverPid],
  );
  assert.deepEqual(await query(server.url, "select n from kept"), [{ n: 1 }]);
});

test("kill -9 of the parent alone: the guard shuts the server down by itself", async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  const { serverPid, guardPid } = await runAndKill(dataDirectory, { guardToo: false });
  await until(() => stateOf(serverPid) !== "running" && stateOf(guardPid) !== "running", "server and guard to end");

  await using server = await startEmbeddedServer(watchedOptions(dataDirectory).options);
  assert.deepEqual(await query(server.url, "select n from kept"), [{ n: 1 }]);
});

test("kill -9 of everything: the next start recovers what was committed", async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  const { serverPid } = await runAndKill(dataDirectory, { guardToo: true, serverToo: true });
  assert.notEqual(stateOf(serverPid), "running");

  await using server = await startEmbeddedServer(watchedOptions(dataDirectory).options);
  assert.deepEqual(await query(server.url, "select n from kept"), [{ n: 1 }]);
});

test("a parent killed during initdb leaves nothing half made: the next start begins again", async () => {
  using folder = temporaryFolder();
  const dataDirectory = path.join(folder.path, "data");
  {
    await using parent = spawnTalking(process.execPath, [CHILD, dataDirectory]);
    const begun = () =>
      existsSync(dataDirectory) && readdirSync(dataDirectory).some((name) => name.startsWith("initdb."));
    await until(begun, "initdb to begin");
    await parent.kill();
    assert.equal(await parent.firstLine, "", "it was killed before it was ready");
  }
  assert.ok(!readdirSync(dataDirectory).includes("postgres"), "no data directory was put in place");

  await using server = await startEmbeddedServer({
    ...watchedOptions(dataDirectory).options,
    initdbArguments: ["--no-sync"],
  });
  assert.equal(server.startedFresh, true);
  assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
});

/** Runs the server in a process of its own, stores a row through it, and kills what was asked for. */
async function runAndKill(
  dataDirectory: string,
  kill: { guardToo: boolean; serverToo?: boolean },
): Promise<ReadyChild> {
  await using parent = spawnTalking(process.execPath, [CHILD, dataDirectory]);
  const ready = JSON.parse(await parent.firstLine) as ReadyChild;
  await query(ready.url, "create table kept (n int)");
  await query(ready.url, "insert into kept values (1)");
  // The guard first: it acts when its parent is gone. A stopped parent cannot restart the server that is killed next.
  if (kill.guardToo) process.kill(ready.guardPid, "SIGKILL");
  parent.child.kill("SIGSTOP");
  if (kill.serverToo === true) process.kill(ready.serverPid, "SIGKILL");
  await parent.kill();
  if (kill.serverToo === true) await until(() => stateOf(ready.serverPid) !== "running", "the killed server to end");
  return ready;
}
