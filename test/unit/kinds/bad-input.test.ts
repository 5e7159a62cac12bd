import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { worldToken } from "../../../src/world/account-book.ts";
import { CloudLab } from "../../support/cloud-lab.ts";

/** What nobody could know when it was declared: said in a condition, with the next step, and not asked again and again. */
const hours = 3;
type CloudName = "hetzner-cloud" | "ionos";
const servers = {
  "hetzner-cloud": { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" },
  ionos: { account: "demo", type: "2-cores-4-gb-20-gb-ssd", image: "debian:12", location: "main" },
} as const;

async function opened(cloud: CloudName): Promise<CloudLab> {
  const lab = await CloudLab.open({ cloud, pace: 0 });
  if (cloud === "ionos") lab.console("POST", "/datacenters", { properties: { name: "main", location: "de/fra" } });
  return lab;
}

async function declared(lab: CloudLab, spec: object) {
  await lab.bench.declare("Host/web-1", spec as never);
  return await lab.finish(await lab.start("host.create", "Host/web-1"), 300);
}

/** Requests of some hours in which nobody does anything. */
async function asked(lab: CloudLab): Promise<number> {
  const from = lab.lastRequest;
  await lab.passWorking(hours * 3_600, 300);
  // Whether a token may write is asked by a data center in no place.
  const writes = lab.writes(from).filter((line) => line !== "POST /datacenters");
  assert.deepEqual(writes, []);
  return lab.lastRequest - from;
}

const wrong: readonly (readonly [CloudName, object, RegExp])[] = [
  [
    "hetzner-cloud",
    { type: "cx2" },
    /no server type cx2; of 23 that there are, the nearest are: cx22, .*\. Correct spec\.type/,
  ],
  [
    "hetzner-cloud",
    { image: "debian-99" },
    /no image debian-99 for x86; there is: .*debian-12.*\. Correct spec\.image/,
  ],
  [
    "hetzner-cloud",
    { location: "fsn2" },
    /cx22 is not offered in fsn2\. It is in: fsn1, hel1, nbg1\. Correct spec\.location/,
  ],
  ["ionos", { image: "debian:99" }, /no image debian:99 for x86; there is: debian:12, .*\. Correct spec\.image/],
  ["ionos", { location: "elsewhere" }, /is not offered in elsewhere\. It is in: main\. Correct spec\.location/],
];

for (const cloud of ["hetzner-cloud", "ionos"] as const)
  describe(`at ${cloud}`, () => {
    test("what the provider does not have is refused once, in words, and not asked for again", async () => {
      for (const [, change, words] of wrong.filter(([name]) => name === cloud)) {
        const lab = await opened(cloud);
        const { state, message } = await declared(lab, { ...servers[cloud], ...change });
        assert.equal(state, "attention");
        assert.match(message ?? "", words);
        const from = lab.lastRequest;
        const requests = await asked(lab);
        assert.ok(requests <= hours * 60, `${JSON.stringify(change)}: ${requests} requests in ${hours} hours`);
        const again = lab.world.log.after(from).filter(({ path }) => /^\/(server_types|images)/.test(path));
        assert.deepEqual(again, [], "nobody asks for it again");
        await lab.bench.stop();
      }
    });

    for (const access of ["wrong", "read-only"] as const)
      test(`a ${access} token is said, and not tried again and again`, async () => {
        const lab = await opened(cloud);
        const book = lab.world.clouds.find(({ name }) => name === cloud)?.book ?? assert.fail("no cloud");
        book.revokeToken(worldToken("demo"));
        if (access === "read-only") book.addToken({ token: worldToken("demo"), account: "demo", access: "read" });
        const provider = { account: "demo", family: cloud };
        await lab.bench.declare("ComputeProvider/main", provider, { mode: "enforce" });
        const onboard = await lab.finish(await lab.start("provider.onboard", "ComputeProvider/main"), 300);
        const words = access === "wrong" ? /401|nauthorized/ : /may (not write|only read)|read.?only|403/i;
        assert.notEqual(onboard.state, "succeeded");
        assert.match(onboard.message ?? "", words);
        const made = await declared(lab, servers[cloud]);
        assert.notEqual(made.state, "succeeded");
        assert.match(made.message ?? "", words);
        const requests = await asked(lab);
        assert.ok(requests <= hours * 200, `${requests} requests in ${hours} hours`);
        await lab.bench.stop();
      });
  });
