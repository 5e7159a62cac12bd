import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { whatever } from "../support/api.ts";
import { runCommand } from "../support/cli.ts";
import { CrateScene } from "../support/crates/crate-scene.ts";

/** Bad input, and what fails on the way: said at once, with the reason and what can be done. */
const { base } = CrateScene;
let scene: CrateScene;
before(async () => {
  scene = await CrateScene.open();
  scene.outside.isOpen = () => true;
});
after(() => scene[Symbol.asyncDispose]());

test("an operation on what is being deleted is refused, and so is a delete of what is not", async () => {
  await scene.declare("leaving");
  await scene.reached("leaving", "succeeded");
  const early = await scene.api.send("POST", `${base}/crates/leaving/operations`, { pipeline: "crate.unpack" });
  assert.equal(early.status, 409);
  assert.match(String(early.body["detail"]), /crate\.unpack ends a resource: delete Crate\/leaving, which starts it/);
  scene.outside.refuses = ({ method }) =>
    method === "DELETE" ? { status: 400, text: "the crane is broken" } : undefined;
  assert.equal((await scene.api.send("DELETE", `${base}/crates/leaving`, undefined, whatever)).status, 202);
  const { id } = await scene.reached("leaving", "attention");
  // Released, so that nothing runs on it any more; it still leaves.
  assert.equal(
    (await scene.api.send("POST", `${base}/operations/${String(id)}:release`, { reason: "by hand" })).status,
    202,
  );
  const late = await scene.api.send("POST", `${base}/crates/leaving/operations`, { pipeline: "crate.pack" });
  assert.equal(late.status, 409);
  assert.equal(late.body["code"], "BEING_DELETED");
  assert.match(String(late.body["detail"]), /Crate\/leaving is being deleted: crate\.pack is not for what goes/);
  scene.outside.refuses = () => undefined;
});

test("a pipeline or a version that is not there is refused at once, with those that are", async () => {
  await scene.declare("versioned");
  const first = await scene.reached("versioned", "succeeded");
  assert.equal(first["version"], 2);
  const start = (body: object) => scene.api.send("POST", `${base}/crates/versioned/operations`, body);
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
  const typed = await runCommand(scene.api.app, [...words, "7"]);
  assert.notEqual(typed.code, 0);
  assert.match(typed.notes, /Version 7 of crate\.pack is not supported here\. It has: 1, 2/);
  assert.equal((await scene.newest("versioned"))["id"], first["id"], "nothing was started");
  const older = await runCommand(scene.api.app, [...words, "1"]);
  assert.equal(older.code, 0, older.notes);
  assert.equal((await scene.reached("versioned", "succeeded"))["version"], 1);
});

test("what it depends on must be there: an account that is not is named where it is declared", async () => {
  const spec = { account: "nowhere", zone: "lost.test", nameservers: ["ns1.lost.test"], makesZone: true };
  const manifest = { apiVersion: "setpoint/v1", kind: "DnsZone", metadata: { name: "lost", mode: "enforce" }, spec };
  const { status, body } = await scene.api.send("POST", `${base}/dnszones`, manifest);
  assert.equal(status, 422);
  assert.match(JSON.stringify(body), /nowhere/);
  assert.equal((await scene.api.send("GET", `${base}/dnszones/lost`)).status, 404, "nothing was half-written");
});

test("a step that fails shows the step, the attempt, the outside's own words and what can be done", async () => {
  scene.outside.refuses = ({ path }) =>
    path === "/crates/fragile/label" ? { status: 503, text: "the printer is out of ink" } : undefined;
  await scene.declare("fragile");
  const operation = await scene.reached("fragile", "attention");
  const said = /step 'label' failed \(attempt 3 of 3\): PROVIDER_UNAVAILABLE: 503: the printer is out of ink/;
  assert.match(String(operation["message"]), said);
  assert.deepEqual([operation["step"], operation["attempts"], operation["needsAttention"]], ["label", 3, true]);
  assert.deepEqual(operation["can"], ["cancel", "resume", "retry", "release"], "no skip: that is not safe here");
  const id = String(operation["id"]);
  const { body } = await scene.api.send("GET", `${base}/operations/${id}/steps`);
  const failures = (body["items"] as readonly Record<string, unknown>[]).filter(({ result }) => result === "failed");
  assert.deepEqual(
    failures.map(({ step, attempt, code, message }) => [step, attempt, code, message]),
    [1, 2, 3].map((attempt) => ["label", attempt, "PROVIDER_UNAVAILABLE", "503: the printer is out of ink"]),
  );
  const shown = (await runCommand(scene.api.app, ["ops", "get", id])).data;
  assert.match(shown, said);
  const commands = `You can +setpoint ops cancel ${id} --reason TEXT\n +setpoint ops resume ${id} --reason TEXT\n`;
  assert.match(shown, new RegExp(commands), "as they can be typed");
  assert.match((await runCommand(scene.api.app, ["why", "crate/fragile"])).data, said);
  const folder = mkdtempSync(join(tmpdir(), "setpoint-refusals-"));
  const manifest =
    "apiVersion: setpoint/v1\nkind: Crate\nmetadata: { name: fragile, labels: { ink: new } }\nspec: {}\n";
  writeFileSync(join(folder, "fragile.yaml"), manifest);
  const applied = await runCommand(scene.api.app, ["apply", "-f", folder, "--force"]);
  rmSync(folder, { recursive: true });
  assert.match(applied.data, /Crate\/fragile changed/, applied.notes);
  const next = new RegExp(`Crate/fragile: crate\\.pack waits for a person: .*setpoint ops resume ${id} --reason TEXT`);
  assert.match(applied.notes, next, "whoever corrects it is told that it does not go on by itself");
  scene.outside.refuses = () => undefined;
  const resumed = await runCommand(scene.api.app, ["ops", "resume", id, "--reason", "there is ink again"]);
  assert.equal(resumed.code, 0, resumed.notes);
  await scene.reached("fragile", "succeeded");
  assert.equal(scene.outside.crates.get("fragile")?.label, "fragile");
});
