import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { openDataDirectory } from "../../../src/store/embedded/data-directory.ts";
import { nobody } from "../../../src/store/embedded/run-user.ts";
import { startEmbeddedServer } from "../../../src/store/embedded/server.ts";
import { copyOfTemplate, QUICK_SETTINGS, query, temporaryFolder } from "../../support/postgres.ts";

const asRoot = process.geteuid?.() === 0;
const onlyAsRoot = asRoot ? {} : { skip: "runs as root only" };
const onlyAsOrdinaryUser = asRoot ? { skip: "runs as an ordinary user only" } : {};
const silent = () => undefined;

test("a directory that is not empty and not ours is refused and stays as it is", async () => {
  using folder = temporaryFolder();
  const file = path.join(folder.path, "thesis.tex");
  writeFileSync(file, "three years of work");
  await assert.rejects(startEmbeddedServer({ dataDirectory: folder.path, log: silent }), {
    name: "EmbeddedServerError",
    code: "DATA_DIRECTORY_FOREIGN",
    message:
      /is not empty and was not made by Setpoint \(it holds thesis\.tex\)\. Nothing was changed\. Choose an empty/,
  });
  assert.deepEqual(readdirSync(folder.path), ["thesis.tex"]);
  assert.equal(readFileSync(file, "utf8"), "three years of work");
});

test("a file in place of the directory is refused", async () => {
  using folder = temporaryFolder();
  const file = path.join(folder.path, "data");
  writeFileSync(file, "");
  await assert.rejects(startEmbeddedServer({ dataDirectory: file, log: silent }), { code: "DATA_DIRECTORY_UNUSABLE" });
});

test("data of another major version is refused and stays as it is", async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  const version = path.join(dataDirectory, "postgres", "PG_VERSION");
  writeFileSync(version, "17\n");
  const before = readdirSync(path.join(dataDirectory, "postgres"));
  await assert.rejects(startEmbeddedServer({ dataDirectory, log: silent }), {
    code: "DATA_VERSION_MISMATCH",
    message: /written by PostgreSQL 17, and this Setpoint brings PostgreSQL 18\. Nothing was changed/,
  });
  assert.deepEqual(readdirSync(path.join(dataDirectory, "postgres")), before);

  writeFileSync(version, "18\n");
  await using server = await startEmbeddedServer({ dataDirectory, log: silent, settings: QUICK_SETTINGS });
  assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
});

test("a lost password says what to put back", async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  rmSync(path.join(dataDirectory, "password"));
  await assert.rejects(startEmbeddedServer({ dataDirectory, log: silent }), {
    code: "PASSWORD_LOST",
    message: /Put .*password back from a backup/,
  });
});

test("a start killed before it marked the directory does not make the directory foreign", () => {
  using folder = temporaryFolder();
  const dataDirectory = path.join(folder.path, "data");
  mkdirSync(path.join(dataDirectory, "lost+found"), { recursive: true });
  writeFileSync(path.join(dataDirectory, "setpoint-data.json.draft"), "{");
  assert.equal(openDataDirectory(dataDirectory, silent, folder.path).empty, true);
});

test("as an ordinary user: data of somebody else is refused", onlyAsOrdinaryUser, async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  // An ordinary user cannot give files away, so the stranger is one who owns a folder already.
  rmSync(path.join(dataDirectory, "postgres"), { recursive: true });
  symlinkSync("/usr", path.join(dataDirectory, "postgres"));
  await assert.rejects(startEmbeddedServer({ dataDirectory, log: silent }), { code: "DATA_DIRECTORY_UNUSABLE" });
});

test(
  "as root: data lives where `nobody` can read it although the given directory is under a 0700 folder",
  onlyAsRoot,
  () => {
    using folder = temporaryFolder();
    const machineRoot = path.join(folder.path, "machine");
    const requested = path.join(folder.path, "home", "clone", ".setpoint");
    mkdirSync(path.join(folder.path, "home"), { mode: 0o700 });

    const data = openDataDirectory(requested, silent, machineRoot);
    assert.equal(path.dirname(data.path), machineRoot);
    assert.deepEqual({ uid: data.user.uid, empty: data.empty }, { uid: nobody().uid, empty: true });
    assert.equal(readFileSync(path.join(requested, "setpoint-data-location"), "utf8"), `${data.path}\n`);
    assert.deepEqual(openDataDirectory(requested, silent, machineRoot), data, "the next start goes to the same place");

    // The clone is thrown away and made again: a fresh start is wanted, and the old data is not lost.
    mkdirSync(data.pgData);
    rmSync(requested, { recursive: true });
    const events: string[] = [];
    const fresh = openDataDirectory(requested, (event) => events.push(event), machineRoot);
    assert.equal(fresh.path, `${data.path}-2`);
    assert.deepEqual(events, ["embedded-postgres.earlier-data-kept", "embedded-postgres.data-redirected"]);
    assert.ok(existsSync(data.pgData));

    // The place it names is gone: no silent fresh start.
    rmSync(fresh.path, { recursive: true });
    assert.throws(() => openDataDirectory(requested, silent, machineRoot), {
      code: "DATA_DIRECTORY_MOVED",
      message: /says that the data lives in ".*-2", and no Setpoint data is there/,
    });
  },
);

test(
  "as root: a server with a redirected directory serves, and is found again by the given directory",
  onlyAsRoot,
  async () => {
    using folder = temporaryFolder();
    // The machine's own place is not for tests: the location file of an earlier start leads into the test's folder.
    const real = await copyOfTemplate(folder.path);
    const requested = path.join(folder.path, "home", "clone", ".setpoint");
    mkdirSync(requested, { recursive: true });
    chmodSync(path.join(folder.path, "home"), 0o700);
    writeFileSync(path.join(requested, "setpoint-data-location"), `${real}\n`);

    await using server = await startEmbeddedServer({ dataDirectory: requested, log: silent, settings: QUICK_SETTINGS });
    assert.equal(server.dataDirectory, real);
    assert.equal(statSync(path.join(real, "postgres")).uid, nobody().uid);
    assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
  },
);

test("as root: data of an ordinary user is served as that user", onlyAsRoot, async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  const owner = 12_345;
  for (const name of readdirSync(dataDirectory, { recursive: true, encoding: "utf8" })) {
    chownSync(path.join(dataDirectory, name), owner, owner);
  }
  let serverPid = 0;
  await using server = await startEmbeddedServer({
    dataDirectory,
    log: (_event, fields) => {
      serverPid = Number(fields?.["pid"]);
    },
    settings: QUICK_SETTINGS,
  });
  assert.equal(statSync(`/proc/${serverPid}`).uid, owner);
  assert.equal(statSync(server.logFile).uid, owner, "the owner can open the log again");
});

test("as root: data that its owner can no longer enter says so", onlyAsRoot, async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  chmodSync(folder.path, 0o700);
  await assert.rejects(startEmbeddedServer({ dataDirectory, log: silent }), {
    code: "DATA_DIRECTORY_UNUSABLE",
    message: /who can no longer enter it\. Give the folders above it execute permission/,
  });
});
