import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { token, whatever } from "../support/api.ts";
import { runCommand } from "../support/cli.ts";
import { CrateScene, type Document } from "../support/crates/crate-scene.ts";

/** An operation as people meet it: the link, its progress, and every word they can say to it, over a real database and worker. */
const { base } = CrateScene;
let scene: CrateScene;
let open = new Set<string>();
before(async () => {
  scene = await CrateScene.open();
  scene.outside.isOpen = (name) => open.has(name);
});
after(() => scene[Symbol.asyncDispose]());

interface Told {
  readonly id: string;
  readonly event: string;
  readonly data: Document;
}

/** Everything that is told until the stream ends. */
async function watched(path: string, lastEventId?: string): Promise<readonly Told[]> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
  };
  const url = `${path}?watch=true`;
  const answer = await scene.api.app.inject({ method: "GET", url, headers, payloadAsStream: true });
  assert.equal(answer.statusCode, 200);
  let text = "";
  for await (const chunk of answer.stream()) text += String(chunk);
  return text.split("\n\n").flatMap((block) => {
    const found = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(block);
    return found === null
      ? []
      : [{ id: found[1] ?? "", event: found[2] ?? "", data: JSON.parse(found[3] ?? "") as Document }];
  });
}

async function ops(verb: string, id: unknown, ...words: readonly string[]): Promise<string> {
  const said = await runCommand(scene.api.app, ["ops", verb, String(id), ...words]);
  assert.equal(said.code, 0, said.notes);
  return said.data;
}

const steps = (told: readonly Told[]) =>
  told.flatMap(({ event, data }) => (event === "step" ? [`${String(data["step"])} ${String(data["result"])}`] : []));

test("a start is answered with 202 and a link that is good at once, and every step is told until the end", async () => {
  const { status, headers } = await scene.declare("parcel");
  assert.equal(status, 202);
  const path = String(headers["location"]);
  const { status: found, body } = await scene.api.send("GET", path);
  assert.equal(found, 200);
  const resource = body["resource"] as Document;
  assert.deepEqual([body["pipeline"], resource["kind"], resource["name"]], ["crate.pack", "Crate", "parcel"]);
  const telling = watched(path);
  await scene.reached("parcel", "running", "gate");
  open.add("parcel");
  const told = await telling;
  assert.deepEqual(steps(told), [
    "admit done",
    "weigh noted",
    "weigh done",
    "crate done",
    "gate begun",
    "gate done",
    "label done",
    "seal done",
    "letter done",
  ]);
  assert.equal(told.at(-1)?.data["state"], "succeeded");
  const gate = told.find(({ data }) => data["step"] === "gate" && data["result"] === "begun");
  const rest = await watched(path, gate?.id);
  assert.deepEqual(
    steps(rest),
    ["gate done", "label done", "seal done", "letter done"],
    "gone on with, not told again",
  );
  const { id } = await scene.newest("parcel");
  assert.match(await ops("logs", id), /weighing parcel/);
  assert.match(await ops("steps", id, "-o", "json"), /"step": ?"letter"/);
});

test("who cancels has taken back what was made, and who releases keeps it", async () => {
  await scene.declare("returned");
  const { id } = await scene.reached("returned", "running", "gate");
  assert.ok(scene.outside.crates.has("returned"));
  await ops("cancel", id, "--reason", "nobody wants it");
  const cancelled = await scene.reached("returned", "cancelled");
  assert.equal(cancelled["direction"], "back");
  assert.equal(scene.outside.crates.has("returned"), false);
  assert.equal((cancelled["cancel"] as Document)["reason"], "nobody wants it");
  assert.match(await ops("get", id), /Cancelled +by operator: nobody wants it\n/);
  await scene.declare("kept");
  const kept = await scene.reached("kept", "running", "gate");
  await ops("release", kept["id"], "--reason", "by hand from here");
  assert.equal((await scene.newest("kept"))["state"], "cancelled");
  assert.ok(scene.outside.crates.has("kept"));
});

test("a retry goes back to the step that is named; a step that is not safe to leave out is not skipped", async () => {
  open.add("again");
  scene.outside.refuses = ({ path }) => (path === "/crates/again/seal" ? { status: 400, text: "no wax" } : undefined);
  await scene.declare("again");
  const { id } = await scene.reached("again", "attention");
  const waited = await runCommand(scene.api.app, [
    "wait",
    "crate/again",
    "--timeout",
    "0s",
    "--organization",
    "default",
  ]);
  assert.equal(waited.code, 4, waited.notes);
  assert.match(
    waited.notes,
    /crate\.pack waits for a person: .*no wax.* See: setpoint ops get /s,
    "in the resource's own condition",
  );
  const skipped = await runCommand(scene.api.app, ["ops", "skip", String(id), "--step", "seal", "--reason", "no wax"]);
  assert.notEqual(skipped.code, 0);
  assert.match(skipped.notes, /seal/);
  scene.outside.refuses = () => undefined;
  await ops("retry", id, "--step", "weigh", "--reason", "there is wax");
  await scene.reached("again", "succeeded");
  const { body } = await scene.api.send("GET", `${base}/operations/${String(id)}/steps`);
  const journal = (body["items"] as readonly Document[]).map(({ step, result }) => `${String(step)} ${String(result)}`);
  assert.equal(journal.filter((line) => line === "weigh done").length, 2, "what follows the step was run again");
  assert.equal(scene.outside.effects.filter((effect) => effect === "pack again").length, 1);
});

test("a delete during an operation stops it at its next step, and what it made is taken back", async () => {
  await scene.declare("unwanted");
  const { id } = await scene.reached("unwanted", "running", "gate");
  const { status, headers } = await scene.api.send("DELETE", `${base}/crates/unwanted`, undefined, whatever);
  assert.equal(status, 202);
  assert.ok(String(headers["location"]).endsWith(String(id)), "the one that stops is where to watch it");
  const stopped = await scene.reached("unwanted", "cancelled");
  assert.equal(stopped["id"], id);
  assert.equal(scene.outside.crates.has("unwanted"), false);
});

test("a delete during a second operation stops it, and one that deletes takes away what the first had made", async () => {
  open.add("older");
  await scene.declare("older");
  await scene.reached("older", "succeeded");
  open = new Set();
  const path = `${base}/crates/older/operations`;
  assert.equal((await scene.api.send("POST", path, { pipeline: "crate.pack" })).status, 202);
  const { id: second } = await scene.reached("older", "running", "gate");
  assert.equal((await scene.api.send("DELETE", `${base}/crates/older`, undefined, whatever)).status, 202);
  const last = await scene.reached("older", "succeeded");
  assert.equal(last["pipeline"], "crate.unpack");
  assert.equal(scene.outside.crates.has("older"), false);
  const { body } = await scene.api.send("GET", `${base}/operations/${String(second)}`);
  assert.match(String(body["message"]), /crate\.unpack takes away what was there before/);
});

test("an operation that waits for a person goes back when its resource is deleted", async () => {
  open.add("stuck");
  scene.outside.refuses = ({ path }) => (path === "/crates/stuck/label" ? { status: 400, text: "no ink" } : undefined);
  await scene.declare("stuck");
  await scene.reached("stuck", "attention");
  assert.equal((await scene.api.send("DELETE", `${base}/crates/stuck`, undefined, whatever)).status, 202);
  await scene.reached("stuck", "cancelled");
  assert.equal(scene.outside.crates.has("stuck"), false);
  scene.outside.refuses = () => undefined;
});
