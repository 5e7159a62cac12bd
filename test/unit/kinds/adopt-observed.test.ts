import assert from "node:assert/strict";
import { test } from "node:test";
import { CloudLab } from "../../support/cloud-lab.ts";

const host = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1", adopt: true };

test("a server whose host is declared in observe is not written to, although its host would adopt it", async () => {
  const lab = await CloudLab.open();
  const server = { name: "web-1", server_type: "cx22", image: "debian-12", location: "fsn1", labels: { a: "b" } };
  lab.console("POST", "/servers", server);
  await lab.bench.pass({ minutes: 2 });
  const from = lab.lastRequest;
  await lab.bench.declare("Host/web-1", { ...host, labels: { a: "b" } }, { mode: "observe" });
  await lab.finish(await lab.start("host.create", "Host/web-1"), 30);
  await lab.bench.pass({ minutes: 10 });
  assert.deepEqual(lab.writes(from), [], "nothing is written while looking");
  await lab.bench.stop();
});
