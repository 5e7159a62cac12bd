import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Mode } from "../../../src/ports/records.ts";
import { CloudLab, organizationId } from "../../support/cloud-lab.ts";

/** What is declared and did not run is done once it may be, by the loop and with nobody's further word. */
const spec = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" };
const ada = { name: "ada", type: "person" } as const;

async function setMode(lab: CloudLab, mode: Mode): Promise<void> {
  const policy = { scope: `organization/${organizationId}`, mode };
  await lab.bench.store.setPolicy({ organizationId, policy, author: ada });
}

const runs = (lab: CloudLab) =>
  [...lab.bench.store.state.tables.operations.values()].map(({ pipeline, state }) => `${pipeline} ${state}`);
const names = (lab: CloudLab) => lab.list<{ readonly name: string }>("servers").map(({ name }) => name);

/** A host that was declared while its organization was only looked at. */
async function watched(): Promise<CloudLab> {
  const lab = await CloudLab.open({ pace: 0.1 });
  await setMode(lab, "observe");
  await lab.bench.declare("Host/web-1", spec);
  await lab.start("host.create", "Host/web-1");
  await lab.passWorking(60);
  assert.deepEqual(runs(lab), ["host.create not-run"]);
  assert.deepEqual([names(lab), lab.writes()], [[], []]);
  return lab;
}

describe("host.create that was not run in observe mode", () => {
  test("makes exactly one server once the mode allows it", async () => {
    const lab = await watched();
    await setMode(lab, "enforce");
    await lab.passWorking(180);
    assert.deepEqual(runs(lab), ["host.create not-run", "host.create succeeded"]);
    assert.deepEqual(names(lab), ["web-1"]);
    await lab.passWorking(1_800);
    assert.deepEqual([runs(lab).length, names(lab)], [2, ["web-1"]]);
    assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
    await lab.bench.stop();
  });

  test("is asked for in the name of whoever declared it, and waits for a person in propose mode", async () => {
    const lab = await watched();
    await setMode(lab, "propose");
    await lab.passWorking(60);
    assert.deepEqual(runs(lab), ["host.create not-run", "host.create held"]);
    const authors = [...lab.bench.store.state.tables.operations.values()].map(({ author }) => author.name);
    assert.deepEqual([authors, names(lab)], [["ada", "ada"], []]);
    await lab.bench.stop();
  });

  test("is left alone while nothing changes, and where something changes and the mode does not", async () => {
    const lab = await watched();
    await lab.passWorking(1_800);
    const limits = { changesPerCycle: 7 };
    const policy = { scope: "platform", limits };
    await lab.bench.store.setPolicy({ organizationId: undefined, policy, author: ada });
    await lab.passWorking(600);
    assert.deepEqual([runs(lab), names(lab)], [["host.create not-run"], []]);
    await lab.bench.stop();
  });

  test("is not started once more after a person cancelled it, whatever the mode becomes", async () => {
    const lab = await watched();
    await setMode(lab, "propose");
    await lab.passWorking(60);
    const held = [...lab.bench.store.state.tables.operations.values()].at(-1) ?? assert.fail("there is no operation");
    const about = { organizationId, operationId: held.id, author: ada, reason: "not needed" };
    await lab.bench.store.steerOperation({ ...about, command: { verb: "cancel" } });
    await lab.passWorking(60);
    for (const mode of ["observe", "enforce"] as const) {
      await setMode(lab, mode);
      await lab.passWorking(600);
    }
    assert.deepEqual(runs(lab), ["host.create not-run", "host.create cancelled"]);
    assert.deepEqual(names(lab), []);
    await lab.bench.stop();
  });

  test("is for nobody any more when its host is deleted first", async () => {
    const lab = await watched();
    await lab.bench.delete("Host/web-1");
    await setMode(lab, "enforce");
    await lab.passWorking(600);
    assert.deepEqual([runs(lab), names(lab)], [["host.create not-run"], []]);
    await lab.bench.stop();
  });
});

test("host.delete that protection refused is not tried again and again, and runs when the protection ends", async () => {
  const lab = await CloudLab.open({ pace: 0.1 });
  await lab.bench.declare("Host/web-1", spec);
  assert.equal((await lab.finish(await lab.start("host.create", "Host/web-1"))).state, "succeeded");
  const protect = (yes: boolean) =>
    lab.bench.store.setPolicy({
      organizationId,
      policy: { scope: `organization/${organizationId}`, protect: yes },
      author: ada,
    });
  await protect(true);
  await lab.bench.delete("Host/web-1");
  await lab.start("host.delete", "Host/web-1");
  await lab.passWorking(1_200);
  assert.deepEqual([runs(lab).slice(1), names(lab)], [["host.delete not-run"], ["web-1"]]);
  await protect(false);
  await lab.passWorking(300);
  assert.deepEqual([runs(lab).slice(1), names(lab)], [["host.delete not-run", "host.delete succeeded"], []]);
  await lab.bench.stop();
});

test("host.delete that was not run in observe mode removes the server once the mode allows it, and nothing else", async () => {
  const lab = await CloudLab.open({ pace: 0.1 });
  lab.console("POST", "/servers", { name: "somebodys", server_type: "cx22", image: "debian-12", location: "fsn1" });
  await lab.bench.declare("Host/web-1", spec);
  assert.equal((await lab.finish(await lab.start("host.create", "Host/web-1"))).state, "succeeded");
  await setMode(lab, "observe");
  await lab.bench.delete("Host/web-1");
  await lab.start("host.delete", "Host/web-1");
  await lab.passWorking(600);
  assert.deepEqual(runs(lab).slice(1), ["host.delete not-run"]);
  assert.deepEqual(names(lab).sort(), ["somebodys", "web-1"]);
  await setMode(lab, "enforce");
  await lab.passWorking(300);
  assert.deepEqual(runs(lab).slice(1), ["host.delete not-run", "host.delete succeeded"]);
  assert.deepEqual(names(lab), ["somebodys"]);
  assert.deepEqual([...lab.bench.store.state.tables.resources.keys()], []);
  await lab.bench.stop();
});

test("host.power that was not run in observe mode was a word for then: it is not done later", async () => {
  const lab = await CloudLab.open({ pace: 0.1 });
  await lab.bench.declare("Host/web-1", spec);
  assert.equal((await lab.finish(await lab.start("host.create", "Host/web-1"))).state, "succeeded");
  await setMode(lab, "observe");
  await lab.start("host.power", "Host/web-1", { power: "reset" });
  await lab.passWorking(60);
  const from = lab.lastRequest;
  await setMode(lab, "enforce");
  await lab.passWorking(600);
  assert.deepEqual(runs(lab).slice(1), ["host.power not-run"]);
  assert.deepEqual(lab.writes(from), []);
  await lab.bench.stop();
});
