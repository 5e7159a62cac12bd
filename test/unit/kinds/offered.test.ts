import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { epochMsOf, isoTime } from "../../../src/kernel/iso-time.ts";
import type { Kind, Surroundings } from "../../../src/kernel/kind.ts";
import { catalogueIn, keptCatalogue } from "../../../src/kinds/cloud/catalogue-report.ts";
import { offeredWords } from "../../../src/kinds/cloud/nearest.ts";
import { computeProviderLoop } from "../../../src/kinds/compute-provider/loop.ts";
import { hostKind } from "../../../src/kinds/host/kind.ts";
import { scalingGroupKind } from "../../../src/kinds/scaling-group/kind.ts";
import type { CloudCatalogue } from "../../../src/ports/compute.ts";
import type { JsonObject } from "../../../src/ports/json.ts";
import { hetznerCloudCapabilities } from "../../../src/providers/hetzner-cloud/capabilities.ts";
import { ionosCapabilities } from "../../../src/providers/ionos/capabilities.ts";
import { CloudLab } from "../../support/cloud-lab.ts";
import { around } from "../../support/surroundings.ts";

const clouds = { "hetzner-cloud": hetznerCloudCapabilities, ionos: ionosCapabilities };
type Cloud = keyof typeof clouds;
const hour = 3_600_000;

/** What the loop of an account reported, and when, by the world. */
interface Seen {
  readonly report: JsonObject;
  readonly nowMs: number;
  readonly cloud: Cloud;
}

async function watched(cloud: Cloud, prepare: (lab: CloudLab) => void = () => {}): Promise<CloudLab> {
  const lab = await CloudLab.open({ cloud });
  if (cloud === "ionos") lab.console("POST", "/datacenters", { properties: { name: "main", location: "de/fra" } });
  prepare(lab);
  await lab.bench.declare("ComputeProvider/main", { account: "demo", family: cloud }, { mode: "observe" });
  await lab.bench.pass({ minutes: 2 });
  return lab;
}

function seenBy(lab: CloudLab, cloud: Cloud): Seen {
  const report = (lab.bench.statuses("ComputeProvider/main")[0]?.report ?? assert.fail("no report")) as JsonObject;
  return { report, cloud, nowMs: epochMsOf(catalogueIn(report)?.at ?? isoTime(0)) };
}

async function seenAt(cloud: Cloud, prepare?: (lab: CloudLab) => void): Promise<Seen> {
  const lab = await watched(cloud, prepare);
  const seen = seenBy(lab, cloud);
  await lab.bench.stop();
  return seen;
}

async function refused(
  kind: Kind<never>,
  spec: object,
  { report, nowMs, cloud }: Seen,
  more: { readonly standing?: object; readonly fingerprint?: string } = {},
): Promise<readonly string[]> {
  const account = async () => ({ provider: cloud, capabilities: clouds[cloud], fingerprint: more.fingerprint });
  const surroundings: Surroundings = {
    ...around,
    account,
    standing: async () =>
      more.standing === undefined ? undefined : kind.schema.parse({ account: "demo", ...more.standing }),
    reported: async (target) => ({ nowMs, reports: target === "ComputeProvider" ? [report] : [] }),
  };
  const problems = (await kind.fits?.(kind.schema.parse({ account: "demo", ...spec }), surroundings)) ?? [];
  return problems.map(({ pointer, message }) => `${pointer} ${message}`);
}

const host = (more: object = {}) => ({ type: "cx22", image: "debian-12", location: "fsn1", ...more });
const hostRefused = (spec: object, seen: Seen, more = {}) => refused(hostKind as never, spec, seen, more);
const group = (template: object, max = 3) => ({ min: 1, max, desired: 1, template });
const groupRefused = (spec: object, seen: Seen, more = {}) => refused(scalingGroupKind as never, spec, seen, more);

describe("what Hetzner Cloud does not have", () => {
  test("is refused when it is declared, by name, with a few that there are", async () => {
    const seen = await seenAt("hetzner-cloud");
    const wrong: Readonly<Record<string, readonly [object, RegExp]>> = {
      type: [
        { type: "cx2" },
        /^\/spec\/type there is no server type "cx2"; of 23 that there are, the nearest are: cx22, /,
      ],
      location: [{ location: "fsn2" }, /^\/spec\/location there is no location "fsn2"; there is: ash, fsn1, hel1,/],
      elsewhere: [
        { location: "ash" },
        /^\/spec\/location the server type cx22 is not offered in ash\. It is in: fsn1, hel1, nbg1/,
      ],
      image: [{ image: "debian-99" }, /^\/spec\/image there is no image "debian-99"; there is: .*debian-12.*by its id/],
      architecture: [
        { type: "cax11", image: "docker-ce" },
        /^\/spec\/image the image docker-ce is not there for arm, which cax11 is; there is: .*debian-12/,
      ],
    };
    for (const [what, [change, words]] of Object.entries(wrong)) {
      const problems = await hostRefused(host(change), seen);
      assert.equal(problems.length, 1, `${what}: ${problems.join("; ")}`);
      assert.match(problems[0] ?? "", words);
      assert.match(problems[0] ?? "", /\(the provider hetzner-cloud of account "demo"\)$/);
      const inGroup = await groupRefused(group(host(change)), seen);
      assert.deepEqual(
        inGroup,
        problems.map((one) => one.replace("/spec/", "/spec/template/")),
        what,
      );
    }
    for (const right of [
      {},
      { type: "cax11" },
      { image: "docker-ce" },
      { image: "4711" },
      { type: "cpx11", location: "ash" },
    ])
      assert.deepEqual(await hostRefused(host(right), seen), [], JSON.stringify(right));
  });

  test("is not refused of what is there: adopted, or declared before", async () => {
    const seen = await seenAt("hetzner-cloud");
    const old = host({ type: "cx11", image: "centos-7" });
    assert.equal((await hostRefused(old, seen)).length, 2);
    assert.deepEqual(await hostRefused({ ...old, adopt: true }, seen), []);
    assert.deepEqual(await hostRefused({ ...old, labels: { role: "web" } }, seen, { standing: old }), []);
    const pointers = async (change: object) =>
      (await hostRefused({ ...old, ...change }, seen, { standing: old })).map((one) => one.split(" ")[0]);
    // Another server needs all of them.
    for (const change of [{ image: "centos-6" }, { location: "nbg1" }])
      assert.deepEqual(await pointers(change), ["/spec/type", "/spec/image"], JSON.stringify(change));
    assert.deepEqual(await pointers({ type: "cx22" }), ["/spec/image"]);
    assert.deepEqual(await pointers({ type: "cx22", image: "debian-12" }), []);
  });
});

describe("what refuses nothing", () => {
  const wrong = host({ type: "cx2", image: "debian-99", location: "fsn2" });

  test("is a catalogue that is old, or from tomorrow", async () => {
    const seen = await seenAt("hetzner-cloud");
    assert.equal((await hostRefused(wrong, { ...seen, nowMs: seen.nowMs + 3 * hour })).length, 2);
    assert.deepEqual(await hostRefused(wrong, { ...seen, nowMs: seen.nowMs + 3 * hour + 1 }), []);
    assert.deepEqual(await hostRefused(wrong, { ...seen, nowMs: seen.nowMs - 1 }), []);
  });

  test("is one of another account, and one of an account that was not claimed then", async () => {
    const seen = await seenAt("ionos");
    const elsewhere = { ...host({ type: "1-core-2-gb-10-gb-ssd", image: "debian:12" }), location: "nowhere" };
    const fingerprint = catalogueIn(seen.report)?.account ?? assert.fail("no account");
    assert.match(fingerprint, /^ionos: contract \d+$/);
    assert.equal((await hostRefused(elsewhere, seen, { fingerprint })).length, 1);
    assert.deepEqual(await hostRefused(elsewhere, seen, { fingerprint: "ionos: contract 1" }), []);
    const unclaimed = await seenAt("hetzner-cloud");
    assert.equal(catalogueIn(unclaimed.report)?.account, undefined);
    assert.equal((await hostRefused(wrong, unclaimed)).length, 2);
    assert.deepEqual(await hostRefused(wrong, unclaimed, { fingerprint: "hetzner-cloud: SSH key 1" }), []);
  });

  test("is half a list, which is no catalogue at all", async () => {
    const seen = await seenAt("hetzner-cloud", (lab) =>
      lab.fault({ kind: "half-list", path: "^/server_types$", share: 0.5, total: "kept" }),
    );
    assert.equal(catalogueIn(seen.report), undefined);
    assert.deepEqual(await hostRefused(wrong, { ...seen, nowMs: 0 }), []);
  });

  test("is a list that is too long to be kept", () => {
    const many = Array.from({ length: 501 }, (_, index) => ({ name: `image-${index}` }));
    const kept = keptCatalogue({ account: undefined, images: many, locations: ["fsn1"] }, isoTime(0));
    assert.deepEqual(kept, { at: isoTime(0), locations: ["fsn1"] });
  });
});

test("a type whose end was announced is taken until then, as the provider takes it, and refused after it", async () => {
  const seen = await seenAt("hetzner-cloud");
  const until = isoTime(seen.nowMs + hour);
  const offers = [{ location: "fsn1", until }, { location: "hel1" }];
  const types = [{ name: "cx22", architecture: "x86", offers }];
  const catalogue = keptCatalogue({ account: undefined, types }, isoTime(seen.nowMs));
  const report = { catalogue } as JsonObject;
  assert.deepEqual(await hostRefused(host(), { ...seen, report }), []);
  const [ended = "", ...others] = await hostRefused(host(), { ...seen, report, nowMs: seen.nowMs + hour });
  assert.match(
    ended,
    /^\/spec\/location .*cx22 cannot be ordered any more, since \d{4}-\d\d-\d\d, in fsn1\. It is in: hel1/,
  );
  assert.deepEqual(others, []);
});

describe("what a contract of IONOS has no room for", () => {
  const type = "4-cores-8-gb-20-gb-ssd";
  const server = { type, image: "debian:12", location: "main" };
  const limited = async (coresPerContract: number) => {
    const lab = await watched("ionos", ({ world }) => {
      const ionos = world.clouds.find(({ name }) => name === "ionos") ?? assert.fail("no cloud");
      ionos.configure("demo", { limits: { coresPerContract, coresPerServer: 8 } });
    });
    const seen = seenBy(lab, "ionos");
    await lab.bench.stop();
    return seen;
  };

  test("is refused when it is declared: a server that is too large, and a group that may grow too large", async () => {
    const seen = await limited(12);
    assert.deepEqual(await hostRefused(server, seen), []);
    const [large = "", ...rest] = await hostRefused({ ...server, type: "16-cores-8-gb-20-gb-ssd" }, seen);
    assert.match(large, /^\/spec\/type .*has 16 cores, and one server may have 8: name a smaller one/);
    assert.deepEqual(rest, []);
    assert.deepEqual(await groupRefused(group(server, 3), seen), []);
    const [wide = ""] = await groupRefused(group(server, 4), seen);
    assert.match(
      wide,
      /^\/spec\/max 4 servers of type 4-cores.* need 16 cores, and 12 of the account's 12 are left: ask for less/,
    );
    assert.match(
      (await hostRefused({ ...server, image: "debian:99" }, seen))[0] ?? "",
      /^\/spec\/image there is no image/,
    );
    assert.match(
      (await hostRefused({ ...server, location: "elsewhere" }, seen))[0] ?? "",
      /no location "elsewhere"; there is: main/,
    );
  });

  test("leaves to a group what it may have already, and lets it shrink", async () => {
    const { report, ...seen } = await limited(12);
    const full = {
      ...seen,
      report: { ...report, room: { ...(report["room"] as JsonObject), cores: { most: 12, used: 12, mostOfOne: 8 } } },
    };
    assert.equal((await groupRefused(group(server, 3), full)).length, 1);
    assert.deepEqual(await groupRefused(group(server, 3), full, { standing: group(server, 3) }), []);
    assert.deepEqual(await groupRefused(group(server, 2), full, { standing: group(server, 3) }), []);
    assert.match(
      (await groupRefused(group(server, 4), full, { standing: group(server, 3) }))[0] ?? "",
      /need 16 cores, and 12 of/,
    );
    assert.deepEqual(await hostRefused(server, full, { standing: server }), []);
    assert.equal((await hostRefused(server, full)).length, 1);
  });
});

test("the catalogue is read once an hour", async () => {
  const lab = await watched("hetzner-cloud");
  const reads = (after: number) => lab.world.log.after(after).filter(({ path }) => path === "/server_types").length;
  const at = () => catalogueIn(lab.bench.statuses("ComputeProvider/main")[0]?.report)?.at ?? "";
  assert.equal(reads(0), 1);
  const first = at();
  await lab.bench.pass({ minutes: 50 });
  assert.deepEqual([reads(0), at()], [1, first]);
  await lab.bench.pass({ minutes: 30 });
  assert.equal(reads(0), 2);
  assert.ok(at() > first);
  // What does not come whole is not believed: what was read before stands, with its time, and is asked for again at the next look.
  lab.fault({ kind: "half-list", path: "^/server_types$", share: 0.5, total: "kept" });
  const [second, kept] = [at(), seenBy(lab, "hetzner-cloud").report["catalogue"]];
  await lab.bench.pass({ minutes: 90 });
  assert.deepEqual([at(), seenBy(lab, "hetzner-cloud").report["catalogue"]], [second, kept]);
  lab.heal();
  await lab.bench.pass({ minutes: 11 });
  assert.ok(at() > second);
  await lab.bench.stop();
});

test("what a contract has is read anew when another one answers, and the room of another is not believed", async () => {
  const lab = await watched("ionos");
  const before = catalogueIn(seenBy(lab, "ionos").report);
  lab.fault({ kind: "other-account", as: "other" });
  await lab.bench.pass({ minutes: 12 });
  const { report, nowMs } = seenBy(lab, "ionos");
  const now = catalogueIn(report);
  assert.notEqual(now?.account, before?.account);
  assert.deepEqual([before?.locations, now?.locations], [["main"], []]);
  await lab.bench.stop();
  const catalogue = { at: isoTime(nowMs), account: "ionos: contract 1", locations: ["main"] };
  const limit = { most: 1, used: 1, mostOfOne: 1 };
  const room = { account: "ionos: contract 2", cores: limit, memoryGigabytes: limit };
  const server = { type: "4-cores-8-gb-20-gb-ssd", image: "debian:12", location: "main" };
  assert.deepEqual(await hostRefused(server, { report: { catalogue, room }, nowMs, cloud: "ionos" }), []);
  const own = { ...room, account: catalogue.account };
  assert.equal((await hostRefused(server, { report: { catalogue, room: own }, nowMs, cloud: "ionos" })).length, 2);
});

test("whoever asks for a look has it read anew, and a look without it is no worse", async () => {
  let reads = 0;
  const catalogue = async (): Promise<CloudCatalogue> => ({ account: undefined, locations: [`place-${++reads}`] });
  const before = { catalogue: { at: isoTime(0), locations: ["place-0"] } };
  const locationsAfter = async (ctx: object) => {
    const { signal } = new AbortController();
    const read = async (_what: string, work: (given: AbortSignal) => Promise<unknown>) => await work(signal);
    const context = {
      reader: { catalogue },
      signal,
      nowMs: 1,
      fresh: false,
      before,
      read,
      writtenAtMs: () => new Map(),
      ...ctx,
    };
    const inspection = await computeProviderLoop.inspect?.(
      context as never,
      { spec: { account: "demo" } } as never,
      [],
    );
    return catalogueIn(inspection?.report)?.locations;
  };
  assert.deepEqual(await locationsAfter({}), ["place-0"]);
  assert.deepEqual(await locationsAfter({ fresh: true }), ["place-1"]);
  const failing = { catalogue: () => Promise.reject(new Error("no answer")) };
  assert.deepEqual(await locationsAfter({ fresh: true, reader: failing }), ["place-0"]);
  assert.deepEqual(await locationsAfter({ before: undefined, reader: {} }), undefined);
});

test("a kept catalogue says of every name what the lists said, whatever order they came in", () => {
  const name = fc.constantFrom("a", "b", "c", "d");
  const offers = fc.uniqueArray(
    fc.record({ location: fc.constantFrom("x", "y", "z"), until: fc.constantFrom(undefined, "2030-01-01T00:00:00Z") }),
    { selector: ({ location }) => location },
  );
  const types = fc.uniqueArray(fc.record({ name, architecture: fc.constantFrom("x86", "arm"), offers }), {
    selector: (type) => type.name,
  });
  fc.assert(
    fc.property(types, (list) => {
      const catalogue: CloudCatalogue = { account: undefined, types: list };
      const kept = keptCatalogue(catalogue, isoTime(0));
      assert.deepEqual(keptCatalogue({ ...catalogue, types: list.toReversed() }, isoTime(0)), kept);
      for (const type of list) {
        const groups = (kept.types ?? []).filter(({ names }) => names.includes(type.name));
        const said = groups.flatMap(({ locations, until }) =>
          locations.map((location) => `${location} ${until ?? ""}`),
        );
        assert.deepEqual(
          said.toSorted(),
          type.offers.map(({ location, until }) => `${location} ${until ?? ""}`).toSorted(),
        );
        assert.ok(groups.length > 0 && groups.every(({ architecture }) => architecture === type.architecture));
      }
    }),
  );
});

test("a few names are all said; of many, those that are most like it", () => {
  assert.equal(offeredWords("x", []), "there is none");
  assert.equal(offeredWords("x", ["b", "a", "b"]), "there is: a, b");
  const many = Array.from({ length: 40 }, (_, index) => `cx${index + 10}`);
  assert.equal(offeredWords("cx222", many), "of 40 that there are, the nearest are: cx22, cx12, cx20, cx21, cx23");
});
