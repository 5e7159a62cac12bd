import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Accounts } from "../../src/kernel/accounts.ts";
import type { Kind } from "../../src/kernel/kind.ts";
import { kinds as shipped } from "../../src/kinds/registry.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresOperationStore } from "../../src/store/operation-store.ts";
import { startWorker } from "../../src/worker/worker.ts";
import { type Answer, startTestApi, type TestApi, whatever } from "../support/api.ts";
import { runCommand } from "../support/cli.ts";
import { crateKind } from "../support/crates/crate-kind.ts";
import { CrateOutside } from "../support/crates/crate-outside.ts";

/** Bad input, and what fails on the way: said at once, with the reason and what can be done. */
const base = "/v1/organizations/default";
const log = { debug() {}, info() {}, warn() {}, error() {} };
const undo = new AsyncDisposableStack();
let outside: CrateOutside;
let api: TestApi;
before(async () => {
  outside = undo.use(await CrateOutside.open());
  outside.isOpen = () => true;
  const kinds = new Map<string, Kind>([...shipped, ["Crate", crateKind(outside.url, 2)]]);
  api = undo.use(await startTestApi({ kinds }));
  const open = () => new Database({ url: api.url, role: "setpoint_engine", log });
  const database = undo.adopt(open(), (it) => it.end());
  const operations = new PostgresOperationStore({ database, clock: systemClock });
  const accounts = new Accounts({ providers: new Map(), store: api.engine, clock: systemClock });
  const ports = { clock: systemClock, random: { next: () => 0 }, ids: createSystemIds(), log };
  const engine = { store: api.engine, operations, ...ports, kinds, accounts };
  undo.use(startWorker(engine, { holder: "test", pollMs: 20, balanceEveryMs: 50, renewEveryMs: 100 }));
});
after(() => undo.disposeAsync());

function declare(name: string): Promise<Answer> {
  const manifest = { apiVersion: "setpoint/v1", kind: "Crate", metadata: { name }, spec: {} };
  return api.send("POST", `${base}/crates`, manifest);
}

async function newest(name: string): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await api.send("GET", `${base}/crates/${name}/operations`);
  const [first] = body["items"] as readonly Record<string, unknown>[];
  assert.ok(first, `there is an operation on ${name}`);
  return first;
}

async function reached(name: string, state: string): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const operation = await newest(name);
    if (operation["state"] === state) return operation;
    await systemClock.wait(20);
  }
}

test("an operation on what is being deleted is refused, and so is a delete of what is not", async () => {
  await declare("leaving");
  await reached("leaving", "succeeded");
  const early = await api.send("POST", `${base}/crates/leaving/operations`, { pipeline: "crate.unpack" });
  assert.equal(early.status, 409);
  assert.match(String(early.body["detail"]), /crate\.unpack ends a resource: delete Crate\/leaving, which starts it/);
  outside.refuses = ({ method }) => (method === "DELETE" ? { status: 400, text: "the crane is broken" } : undefined);
  assert.equal((await api.send("DELETE", `${base}/crates/leaving`, undefined, whatever)).status, 202);
  const { id } = await reached("leaving", "attention");
  // Released, so that nothing runs on it any more; it still leaves.
  assert.equal((await api.send("POST", `${base}/operations/${String(id)}:release`, { reason: "by hand" })).status, 202);
  const late = await api.send("POST", `${base}/crates/leaving/operations`, { pipeline: "crate.pack" });
  assert.equal(late.status, 409);
  assert.equal(late.body["code"], "BEING_DELETED");
  assert.match(String(late.body["detail"]), /Crate\/leaving is being deleted: crate\.pack is not for what goes/);
  outside.refuses = () => undefined;
});

test("a pipeline or a version that is not there is refused at once, with those that are", async () => {
  await declare("versioned");
  const first = await reached("versioned", "succeeded");
  assert.equal(first["version"], 2);
  const start = (body: object) => api.send("POST", `${base}/crates/versioned/operations`, body);
  const unknown = await start({ pipeline: "crate.paint" });
  assert.equal(unknown.status, 422);
  assert.match(
    String(unknown.body["detail"]),
    /Crate has no pipeline "crate\.paint"\. It has: crate\.pack, crate\.unpack/,
  );
  const future = await start({ pipeline: "crate.pack", version: 7 });
  assert.equal(future.status, 422);
  assert.match(String(future.body["detail"]), /Version 7 of crate\.pack is not supported here\. It has: 1, 2/);
  const words = ["ops", "start", "crate/versioned", "crate.pack", "--pipeline-version"];
  const typed = await runCommand(api.app, [...words, "7"]);
  assert.notEqual(typed.code, 0);
  assert.match(typed.notes, /Version 7 of crate\.pack is not supported here\. It has: 1, 2/);
  assert.equal((await newest("versioned"))["id"], first["id"], "nothing was started");
  const older = await runCommand(api.app, [...words, "1"]);
  assert.equal(older.code, 0, older.notes);
  assert.equal((await reached("versioned", "succeeded"))["version"], 1);
});

test("what it depends on must be there: an account that is not is named where it is declared", async () => {
  const spec = { account: "nowhere", zone: "lost.test", nameservers: ["ns1.lost.test"], makesZone: true };
  const manifest = { apiVersion: "setpoint/v1", kind: "DnsZone", metadata: { name: "lost", mode: "enforce" }, spec };
  const { status, body } = await api.send("POST", `${base}/dnszones`, manifest);
  assert.equal(status, 422);
  assert.match(JSON.stringify(body), /nowhere/);
  assert.equal((await api.send("GET", `${base}/dnszones/lost`)).status, 404, "nothing was half-written");
});

test("a step that fails shows the step, the attempt, the outside's own words and what can be done", async () => {
  outside.refuses = ({ path }) =>
    path === "/crates/fragile/label" ? { status: 503, text: "the printer is out of ink" } : undefined;
  await declare("fragile");
  const operation = await reached("fragile", "attention");
  const said = /step 'label' failed \(attempt 3 of 3\): PROVIDER_UNAVAILABLE: 503: the printer is out of ink/;
  assert.match(String(operation["message"]), said);
  assert.deepEqual([operation["step"], operation["attempts"], operation["needsAttention"]], ["label", 3, true]);
  assert.deepEqual(operation["can"], ["cancel", "resume", "retry", "release"], "no skip: that is not safe here");
  const id = String(operation["id"]);
  const { body } = await api.send("GET", `${base}/operations/${id}/steps`);
  const failures = (body["items"] as readonly Record<string, unknown>[]).filter(({ result }) => result === "failed");
  assert.deepEqual(
    failures.map(({ step, attempt, code, message }) => [step, attempt, code, message]),
    [1, 2, 3].map((attempt) => ["label", attempt, "PROVIDER_UNAVAILABLE", "503: the printer is out of ink"]),
  );
  const shown = (await runCommand(api.app, ["ops", "get", id])).data;
  assert.match(shown, said);
  assert.match(shown, new RegExp(`You can +setpoint ops cancel ${id}\n +setpoint ops resume ${id}\n`));
  assert.match((await runCommand(api.app, ["why", "crate/fragile"])).data, said);
  outside.refuses = () => undefined;
  const resumed = await runCommand(api.app, ["ops", "resume", id, "--reason", "there is ink again"]);
  assert.equal(resumed.code, 0, resumed.notes);
  await reached("fragile", "succeeded");
  assert.equal(outside.crates.get("fragile")?.label, "fragile");
});
