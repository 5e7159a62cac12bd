import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { isRunning, type Product, setpointIn, startProduct, until } from "../support/product.ts";

const kept = {
  apiVersion: "setpoint/v1",
  kind: "KeyValueSet",
  metadata: { name: "kept" },
  spec: { items: { sky: "blue" } },
};

async function gone(pids: readonly number[]): Promise<void> {
  await until(
    "every process to end",
    async () => pids.filter(isRunning),
    (left) => left.length === 0,
  );
}

/** Whoever starts it on another port types the next command without saying the port again. */
async function foundByItself(product: Product, port: number): Promise<void> {
  const unsaid = { SETPOINT_URL: undefined, SETPOINT_TOKEN: undefined };
  const folders = { SETPOINT_DATA: product.dataDirectory, SETPOINT_CONFIG: product.dataDirectory };
  const here = { ...process.env, ...unsaid, ...folders };
  assert.match((await setpointIn(here)("doctor")).stdout, new RegExp(`127\\.0\\.0\\.1:${port}\\b`));
  const listed = await setpointIn(here)("get", "keyvalueset");
  assert.equal(listed.code, 0, listed.stderr);
  // A token that somebody gave goes where they say, and not to whoever left a file in this folder.
  const given = await setpointIn({ ...here, SETPOINT_TOKEN: "a-token-of-somebody-s-own" })("get", "keyvalueset");
  assert.notEqual(given.code, 0);
  assert.doesNotMatch(given.stderr, new RegExp(`:${port}\\b|accepted|refused the token`));
}

test("one command starts everything, says where it is, and leaves nothing behind when it is told to end", async () => {
  using folder = temporaryFolder();
  const port = await freePort();
  const product = startProduct({ dataDirectory: join(folder.path, "data"), port });
  try {
    await product.ready();
    const printed = product.printed();
    for (const said of [
      `http://127.0.0.1:${port}/`,
      join(folder.path, "data", "operator.token"),
      join(folder.path, "data", "setpoint.log"),
      String(port),
    ]) {
      assert.ok(printed.includes(said), `${said} is not said in:\n${printed}`);
    }
    const token = readFileSync(join(folder.path, "data", "operator.token"), "utf8").trim();
    assert.equal(
      statSync(join(folder.path, "data", "operator.token")).mode & 0o077,
      0,
      "nobody else can read the token",
    );
    assert.ok(!printed.includes(token), "the token itself is not printed");
    const link = /http:\/\/\S+\/sign-in#(spt_first_\S+)/.exec(printed)?.[1] ?? "";
    const person = { email: "first@example.test", name: "First", password: "tall giraffes hum quietly" };
    const begin = () =>
      fetch(`${product.url}/v1/session/link`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: link, person }),
      });
    assert.equal((await begin()).status, 201, "the link that was printed makes the first person");
    assert.equal((await begin()).status, 401, "once");
    assert.ok(!readFileSync(join(folder.path, "data", "setpoint.log"), "utf8").includes(link), "no log has it");
    assert.equal(statSync(join(folder.path, "data", "root.key")).mode & 0o077, 0, "nobody else can read the root key");
    assert.equal((await fetch(`${product.url}/healthz`)).status, 200);
    assert.match(await (await fetch(`${product.url}/status`)).text(), /scheduler/);
    const metrics = await (await fetch(`${product.url}/metrics`)).text();
    for (const role of ["api", "scheduler", "worker"])
      assert.match(metrics, new RegExp(`^setpoint_.*role="${role}"`, "m"), `the metrics of the ${role} are there`);
    const helps = [...metrics.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name);
    assert.equal(new Set(helps).size, helps.length, "each metric is described once");
    assert.match(await product.must("doctor"), /the token is accepted/);
    await foundByItself(product, port);
    const children = product.children();
    assert.ok(children.length >= 3, "two roles and the database");
    assert.equal(await product.end("SIGINT"), 130);
    await gone(children);
  } finally {
    await product.end("SIGKILL");
  }
});

test("a busy port is named with what to do, and nothing is started", async () => {
  using folder = temporaryFolder();
  const blocker = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => blocker.listen(port, "127.0.0.1", resolve));
  const product = startProduct({ dataDirectory: join(folder.path, "data"), port });
  try {
    await assert.rejects(product.ready());
    assert.equal(await product.end("SIGTERM"), 1);
    assert.match(product.printed(), new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use.*SETPOINT_PORT=`));
    assert.doesNotMatch(product.printed(), / at .*\.ts:/, "no stack trace");
    assert.equal(existsSync(join(folder.path, "data", "postgres")), false);
  } finally {
    blocker.close();
    await product.end("SIGKILL");
  }
});

test("settings that cannot be used are named all at once, without a stack trace", async () => {
  using folder = temporaryFolder();
  const environment = { SETPOINT_PORT: "70000", DATABASE_URL: "mysql://root:hunter2@x/y", SETPOINT_LOG_LEVEL: "loud" };
  const product = startProduct({ dataDirectory: join(folder.path, "data"), port: 1, environment });
  assert.equal(await product.end("SIGCONT"), 1);
  const printed = product.printed();
  for (const name of Object.keys(environment))
    assert.ok(printed.includes(name), `${name} is not named in:\n${printed}`);
  assert.doesNotMatch(printed, /hunter2| at .*\.ts:/);
});

/** Kills what a person would kill who wants it all gone at once. */
async function killAll(product: Product): Promise<void> {
  const children = product.children();
  product.process.kill("SIGKILL");
  for (const pid of children) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  await gone(children);
}

test("killed without warning, it comes back with everything that was declared", async () => {
  using folder = temporaryFolder();
  const dataDirectory = join(folder.path, "data");
  const file = join(folder.path, "kept.json");
  writeFileSync(file, JSON.stringify(kept));
  const first = startProduct({ dataDirectory, port: await freePort() });
  await first.ready();
  await first.must("apply", "-f", file);
  await killAll(first);
  const second = startProduct({ dataDirectory, port: await freePort() });
  try {
    await second.ready();
    assert.equal(await second.must("get", "keyvalueset", "-o", "name"), "keyvalueset/kept\n");
  } finally {
    await second.end("SIGTERM");
  }
});

test("when the supervisor alone is killed its roles and the database end by themselves", async () => {
  using folder = temporaryFolder();
  const product = startProduct({ dataDirectory: join(folder.path, "data"), port: await freePort() });
  await product.ready();
  const children = product.children();
  product.process.kill("SIGKILL");
  await gone(children);
});

test("a role that dies is started again while the others go on", async () => {
  using folder = temporaryFolder();
  const product = startProduct({ dataDirectory: join(folder.path, "data"), port: await freePort() });
  try {
    await product.ready();
    const scheduler = product
      .children()
      .find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").endsWith("main.ts\0scheduler\0"));
    assert.ok(scheduler);
    process.kill(scheduler, "SIGKILL");
    assert.equal((await fetch(`${product.url}/healthz`)).status, 200);
    await gone([scheduler]);
    const services = await until(
      "the scheduler to run again",
      async () => await product.must("status", "-o", "json"),
      (text) =>
        (JSON.parse(text) as { services: { name: string; state: string }[] }).services.every(
          ({ state }) => state === "running",
        ) &&
        product
          .children()
          .some(
            (pid) => pid !== scheduler && readFileSync(`/proc/${pid}/cmdline`, "utf8").endsWith("main.ts\0scheduler\0"),
          ),
    );
    assert.match(services, /"scheduler"/);
  } finally {
    await product.end("SIGTERM");
  }
});
