import assert from "node:assert/strict";
import { test } from "node:test";
import { CloudLab } from "../../support/cloud-lab.ts";

const names = ["backend", "frontend", "storage"];

/** Networks of one account, at rest: their loops look at one listing that they share. */
async function networksAtRest() {
  const lab = await CloudLab.open();
  for (const [index, name] of names.entries()) {
    const range = `10.${index}.0.0/16`;
    await lab.bench.declare(`CloudNetwork/${name}`, { account: "demo", range, subnets: [], routes: [] });
  }
  await lab.bench.pass({ minutes: 1 });
  for (const name of names) assert.match(lab.bench.ready(`CloudNetwork/${name}`), /^Converged/);
  return lab;
}

function labelsOf(lab: CloudLab, name: string): readonly string[] {
  const found = lab.list<{ name: string; labels: Record<string, string> }>("networks").find((one) => one.name === name);
  return Object.keys(found?.labels ?? assert.fail(`no network ${name}`));
}

function listings(lab: CloudLab): number {
  return lab.world.log.counts().bySort["hetzner-cloud demo GET /networks"] ?? 0;
}

test("a look that a person asks for shows what changed a moment before, however young the shared listing is", async () => {
  const lab = await networksAtRest();
  await lab.bench.lookAgain("CloudNetwork/backend");
  await lab.bench.pass({ seconds: 1 });
  const before = labelsOf(lab, "frontend");
  const [id] = lab
    .list<{ id: number; name: string }>("networks")
    .flatMap((one) => (one.name === "frontend" ? one.id : []));
  lab.console("PUT", `/networks/${id}`, { labels: {} });
  await lab.bench.lookAgain("CloudNetwork/frontend");
  await lab.bench.pass({ seconds: 1 });
  assert.deepEqual(labelsOf(lab, "frontend"), before, lab.bench.why("CloudNetwork/frontend").at(-1));
});

test("however many are asked about at once, one listing answers them all", async () => {
  const lab = await networksAtRest();
  await lab.bench.pass({ minutes: 2 });
  const before = listings(lab);
  for (const name of names) await lab.bench.lookAgain(`CloudNetwork/${name}`);
  await lab.bench.pass({ seconds: 1 });
  assert.equal(listings(lab) - before, 1);
});
