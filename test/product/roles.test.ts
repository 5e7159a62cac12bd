import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { query, startTestServer, temporaryFolder } from "../support/postgres.ts";
import { until } from "../support/product.ts";
import { startRole } from "../support/role-process.ts";

const token = "token-of-roles-that-run-apart";

async function statusOf(url: string): Promise<number> {
  return (await fetch(url)).status;
}

test("roles run apart against one database, each with its own health and metrics", async () => {
  await using server = await startTestServer();
  using folder = temporaryFolder();
  const [port, schedulerPort] = [await freePort(), await freePort()];
  const environment = {
    DATABASE_URL: server.url,
    SETPOINT_DATA: folder.path,
    SETPOINT_TOKEN: token,
    SETPOINT_PORT: String(port),
    SETPOINT_SCHEDULER_PORT: String(schedulerPort),
  };
  const roles = [startRole("api", environment), startRole("scheduler", environment)];
  try {
    await until(
      "the API",
      () => statusOf(`http://127.0.0.1:${port}/healthz`),
      (status) => status === 200,
    );
    await until(
      "the scheduler",
      () => statusOf(`http://127.0.0.1:${schedulerPort}/healthz`),
      (status) => status === 200,
    );
    const summary = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/summary`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return (await answer.json()) as { services: { name: string; state: string }[] };
    };
    await until("the leases", summary, ({ services }) => services.every(({ state }) => state === "running"));
    assert.match(await (await fetch(`http://127.0.0.1:${schedulerPort}/metrics`)).text(), /^setpoint_/m);
    assert.equal(await statusOf(`http://127.0.0.1:${schedulerPort}/else`), 404);
    for (const role of roles) role.child.kill("SIGTERM");
    assert.deepEqual(await Promise.all(roles.map(({ ended }) => ended)), [0, 0]);
  } finally {
    for (const role of roles) role.child.kill("SIGKILL");
  }
});

/** Starts a role that is expected not to come up, and answers with the one line that it leaves. */
async function refusalOf(name: string, environment: Record<string, string>): Promise<string> {
  const role = startRole(name, { SETPOINT_LOG_LEVEL: "error", ...environment });
  assert.equal(await role.ended, 1, role.printed());
  const shown = role
    .printed()
    .split("\n")
    .filter((line) => line.startsWith("setpoint"));
  assert.equal(shown.length, 1, role.printed());
  assert.doesNotMatch(role.printed(), /^\s+at /m, "no stack trace unless asked for");
  return shown[0] ?? "";
}

test("a role that cannot start says why in one line and ends with 1", async () => {
  using folder = temporaryFolder();
  const nowhere = `postgresql://setpoint@127.0.0.1:${await freePort()}/setpoint`;
  const cases = [
    ["api", {}, /"api" needs DATABASE_URL/],
    ["api", { DATABASE_URL: nowhere, SETPOINT_TOKEN: token }, /PostgreSQL cannot be reached/],
    ["scheduler", { DATABASE_URL: nowhere }, /PostgreSQL cannot be reached/],
    ["janitor", {}, /There is no role "janitor"\. Roles: dev, api, scheduler, worker, migrate/],
  ] as const;
  for (const [name, environment, expected] of cases)
    assert.match(await refusalOf(name, { SETPOINT_DATA: join(folder.path, "data"), ...environment }), expected);
});

test("a kind that cannot be loaded, and a database from the future or made by other migrations, are refused with what to do", async () => {
  await using server = await startTestServer();
  using folder = temporaryFolder();
  const environment = { DATABASE_URL: server.url, SETPOINT_DATA: folder.path, SETPOINT_TOKEN: token };
  const migrate = startRole("migrate", environment);
  assert.equal(await migrate.ended, 0, migrate.printed());
  const kinds = { ...environment, SETPOINT_KINDS: join(folder.path, "no-such-kinds.ts") };
  assert.match(await refusalOf("scheduler", kinds), /no-such-kinds\.ts, named in SETPOINT_KINDS, cannot be loaded/);
  const migrations = () => query(server.url, "select version, name, checksum from setpoint.migration order by version");
  const [changed, ahead] = [
    "update setpoint.migration set checksum = 'another' where version = 1",
    "insert into setpoint.migration (version, name, checksum) values (9999, 'tomorrow', 'x')",
  ];
  for (const [statement, expected] of [
    [ahead, /has migration tomorrow; this Setpoint knows \d+\. .*restore a backup/],
    [changed, /was applied to this database with another content/],
  ] as const) {
    await query(server.url, statement);
    const before = await migrations();
    for (const role of ["api", "scheduler", "worker", "migrate"])
      assert.match(await refusalOf(role, environment), expected);
    assert.deepEqual(await migrations(), before);
    await query(server.url, "delete from setpoint.migration where version = 9999");
  }
});
