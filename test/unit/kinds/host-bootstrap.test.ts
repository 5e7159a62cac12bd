import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hostKind } from "../../../src/kinds/host/kind.ts";
import { hostSchema } from "../../../src/kinds/host/schema.ts";
import type { JsonObject } from "../../../src/ports/json.ts";
import { Cloud, declare, withKey } from "../../crash-points/pipelines/host.ts";
import { OperationLab } from "../../support/operation-lab.ts";
import { around } from "../../support/surroundings.ts";

const script = "make ready";

async function labWith(rest: JsonObject): Promise<{ readonly lab: OperationLab; readonly cloud: Cloud }> {
  const cloud = new Cloud();
  const lab = await OperationLab.open(undefined, cloud);
  await withKey(lab);
  await declare(lab, rest);
  return { lab, cloud };
}

const create = async (lab: OperationLab) => (await lab.start("host.create", "web-1")).id;
const stepsDone = (lab: OperationLab, id: string) =>
  lab.row(id).journal.flatMap(({ step, result }) => (result === "done" ? [step] : []));

describe("a host that is made ready by SSH", () => {
  test("is active once its script has ended well, and another operation does not run it again", async () => {
    const { lab, cloud } = await labWith({ bootstrap: { ssh: { account: "key", script } } });
    const id = await create(lab);
    const { state, message, journal } = await lab.finish(id);
    assert.equal(state, "succeeded", message);
    assert.deepEqual(cloud.shells.begun, ["run 1: make ready"]);
    const done = stepsDone(lab, id);
    assert.deepEqual(done.slice(done.indexOf("settled")), [
      "settled",
      "announce",
      "firewalls",
      "open",
      "address",
      "answers",
      "host-key",
      "runs",
      "bootstrap",
      "bootstrapped",
      "reachable",
      "active",
    ]);
    assert.doesNotMatch(JSON.stringify(journal), /make ready/);
    const again = await lab.finish(await create(lab));
    assert.equal(again.state, "succeeded", again.message);
    assert.equal(cloud.shells.begun.length, 1);
  });

  test("keeps to the host key that it learned, whoever lets it try again", async () => {
    const { lab, cloud } = await labWith({ bootstrap: { ssh: { account: "key", script } } });
    const learned = cloud.shells.hostKey;
    Object.assign(cloud.shells, { exitCode: 7, output: "no space left on device" });
    const id = await create(lab);
    const failed = await lab.finish(id);
    assert.equal(failed.state, "attention");
    assert.match(failed.message, /step 'bootstrapped'.*exit code 7.*no space left on device.*--step runs/s);
    Object.assign(cloud.shells, { exitCode: 0, hostKey: `SHA256:${"m".repeat(43)}` });
    assert.equal(await lab.steer(id, { verb: "retry", step: "answers" }), "done");
    const refused = await lab.finish(id);
    assert.equal(refused.state, "attention");
    assert.ok(refused.message.includes(learned) && refused.message.includes(cloud.shells.hostKey), refused.message);
    assert.equal(cloud.shells.begun.length, 1);
    cloud.shells.hostKey = learned;
    await lab.steer(id, { verb: "retry", step: "runs" });
    assert.equal((await lab.finish(id)).state, "succeeded");
    assert.deepEqual(cloud.shells.begun, ["run 1: make ready", "run 2: make ready"]);
  });

  test("keeps to that key in every later operation on this server, and a new server learns anew", async () => {
    const bootstrap = { ssh: { account: "key", script } };
    const { lab, cloud } = await labWith({ bootstrap });
    const learned = cloud.shells.hostKey;
    assert.equal((await lab.finish(await create(lab))).state, "succeeded");
    cloud.shells.hostKey = `SHA256:${"m".repeat(43)}`;
    const refusing = await create(lab);
    const refused = await lab.finish(refusing);
    assert.equal(refused.state, "attention");
    assert.ok(refused.message.includes(learned) && refused.message.includes(cloud.shells.hostKey), refused.message);
    // Declared, it is the one; and stays so when the spec no longer says it.
    await declare(lab, { bootstrap: { ssh: { ...bootstrap.ssh, hostKey: cloud.shells.hostKey } } });
    await lab.steer(refusing, { verb: "retry", step: "host-key" });
    const { state, message } = await lab.finish(refusing);
    assert.equal(state, "succeeded", message);
    await declare(lab, { bootstrap });
    assert.equal((await lab.finish(await create(lab))).state, "succeeded");
    cloud.shells.hostKey = learned;
    const other = await create(lab);
    assert.equal((await lab.finish(other)).state, "attention");
    await lab.steer(other, { verb: "release" });

    const [server] = lab.subject("web-1").memory.made ?? [];
    await declare(lab, { bootstrap, type: "cx32" });
    const [resource] = lab.store.state.tables.resources.values();
    const input = { replaces: server?.externalId ?? "", generation: resource?.generation ?? 0, digest: "approved" };
    const replaced = await lab.finish((await lab.start("host.replace", "web-1", input)).id);
    assert.equal(replaced.state, "succeeded", replaced.message);
  });

  test("that does not answer is waited for, and then a person is told what was seen", async () => {
    const { lab, cloud } = await labWith({ bootstrap: { ssh: { account: "key" } } });
    cloud.shells.silent = "connect ECONNREFUSED 198.18.0.1:22";
    const id = await create(lab);
    const waiting = await lab.finish(id, 300);
    assert.deepEqual([waiting.state, waiting.step], ["running", "answers"]);
    const late = await lab.finish(id, 400);
    assert.equal(late.state, "attention");
    assert.match(late.message, /ECONNREFUSED.*for more than 600 s/);
    cloud.shells.silent = undefined;
    await lab.steer(id, { verb: "resume" });
    assert.equal((await lab.finish(id)).state, "succeeded");
    assert.deepEqual(cloud.shells.begun, []);
  });

  test("without the account of its key waits for a person, who is told how to add one", async () => {
    const { lab } = await labWith({ bootstrap: { ssh: { account: "lost" } } });
    const { state, message } = await lab.finish(await create(lab));
    assert.equal(state, "attention");
    assert.match(
      message,
      /account 'lost' of provider ssh, and there is none.*setpoint account add lost --provider ssh/,
    );
  });

  test("without it, what the provider says is all there is, and the journal says so", async () => {
    const { lab } = await labWith({});
    const { state, journal } = await lab.finish(await create(lab));
    assert.equal(state, "succeeded");
    const said = journal.filter(({ step }) => step === "active" || step === "reachable");
    assert.match(
      JSON.stringify(said),
      /provider says that it is on; without spec\.bootstrap\.ssh nothing is connected to/,
    );
  });

  test("and is declared off is not signed in to", async () => {
    const { lab, cloud } = await labWith({ power: "off", bootstrap: { ssh: { account: "key", script } } });
    const { state, message } = await lab.finish(await create(lab));
    assert.equal(state, "succeeded", message);
    assert.deepEqual(cloud.shells.begun, []);
  });
});

test("an account that holds no SSH key is refused where the host is declared", async () => {
  const base = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" };
  const spec = hostSchema.parse({ ...base, bootstrap: { ssh: { account: "key" } } });
  const among = (provider: string | undefined) => ({
    ...around,
    account: async () => (provider === undefined ? undefined : { provider, capabilities: undefined }),
  });
  assert.deepEqual(await hostKind.fits?.(spec, among("ssh")), []);
  const wrong = (await hostKind.fits?.(spec, among("powerdns"))) ?? [];
  assert.deepEqual(
    wrong.map(({ pointer }) => pointer),
    ["/spec/bootstrap/ssh/account"],
  );
  assert.match(wrong[0]?.message ?? "", /provider powerdns.*setpoint account add key --provider ssh/);
  assert.match((await hostKind.fits?.(spec, among(undefined)))?.[0]?.message ?? "", /names no account/);
  const { success } = hostSchema.safeParse({ ...base, adopt: true, bootstrap: { ssh: { account: "key" } } });
  assert.equal(success, false);
});
