import assert from "node:assert/strict";
import { test } from "node:test";
import { CloudLab } from "../../support/cloud-lab.ts";

const spec = { account: "demo", type: "cx22", image: "debian-12" };
/** Three in ten of the account are in nbg1: too few to be a share of the account that speaks. */
const hosts = Array.from({ length: 10 }, (_, index) => ({
  name: `web-${index}`,
  location: index < 3 ? "nbg1" : "fsn1",
}));

async function made(): Promise<CloudLab> {
  const lab = await CloudLab.open({ pace: 0.1 });
  for (const { name, location } of hosts) {
    await lab.bench.declare(`Host/${name}`, { ...spec, location });
    const { state, message } = await lab.finish(await lab.start("host.create", `Host/${name}`));
    assert.equal(state, "succeeded", message);
  }
  await lab.bench.pass({ minutes: 6 });
  return lab;
}

/** Somebody, or something, takes these servers away. */
function lose(lab: CloudLab, names: readonly string[]): void {
  for (const { id, name } of lab.list<{ readonly id: number; readonly name: string }>("servers"))
    if (names.includes(name)) lab.console("DELETE", `/servers/${id}`);
}

const waiting = (lab: CloudLab) =>
  [...lab.bench.store.state.tables.heldChanges.values()]
    .filter(({ state, guard }) => state === "open" && guard === "too-many-at-once")
    .map(({ verdict }) => verdict.reason);

test("all servers of one location that are gone at once make the observer the suspect there, and the rest is kept", async () => {
  const lab = await made();
  lose(lab, ["web-0", "web-1", "web-2"]);
  await lab.bench.pass({ minutes: 12 });
  assert.deepEqual(waiting(lab), [
    "3 of 3 subjects of this account in nbg1 went bad together: the observer is suspect, remediation waits",
  ]);
  assert.match(lab.bench.ready("Host/web-0"), /^WaitingForApproval/);
  assert.match(lab.bench.ready("Host/web-5"), /^Converged/);
  assert.equal(lab.list("servers").length, 7);
  await lab.bench.stop();
});

test("as many that are gone here and there are no outage: each says what to do", async () => {
  const lab = await made();
  lose(lab, ["web-0", "web-5", "web-6"]);
  await lab.bench.pass({ minutes: 12 });
  assert.deepEqual(waiting(lab), []);
  assert.match(lab.bench.ready("Host/web-5"), /setpoint ops start host\/web-5 host\.create/);
  await lab.bench.stop();
});
