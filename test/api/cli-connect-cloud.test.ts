import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { CliWorld } from "../../src/cli/world.ts";
import type { Log } from "../../src/ports/log.ts";
import { createEngineOpener } from "../../src/runtime/engine-seal.ts";
import { systemSecretRandom } from "../../src/runtime/system-secret-random.ts";
import { Database } from "../../src/store/database.ts";
import { registerEngineKey } from "../../src/store/engine-keys.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { type Ran, runCommand } from "../support/cli.ts";
import { query } from "../support/postgres.ts";
import { settleLook } from "../support/settled-look.ts";

let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), "setpoint-connect-"));
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
before(async () => {
  api = await startTestApi();
  const administration = new Database({ url: api.url, role: "setpoint_admin", log: silent });
  await registerEngineKey(administration, createEngineOpener([systemSecretRandom.bytes(32)]));
  await administration.end();
});
after(async () => {
  rmSync(folder, { recursive: true });
  await api[Symbol.asyncDispose]();
});

function setpoint(args: readonly string[], change: Partial<CliWorld> = {}): Promise<Ran> {
  return runCommand(api.app, args, change);
}

const facts = { type: "cx22", image: "debian-12", location: "fsn1", labels: { role: "web" }, volumes: ["data"] };

/** A server at IONOS is never protected against deletion. */
const canProtect = (provider: string) => provider === "hetzner";

/** What a scheduler would have seen of the account. */
async function sees(provider: string): Promise<void> {
  const server = { ...facts, power: "off", protect: canProtect(provider) };
  const things = [
    { type: "server", name: `${provider}-1`, server },
    { type: "server", name: "Big Server", server },
    { type: "network", name: "backend" },
  ];
  const items = things.map((item, index) => {
    const key = `${item.type} ${item.name} (${index})`;
    return { key, externalId: key, item: { ...item, owner: "unmanaged" }, owned: false };
  });
  const observation = { hash: "seen", completeness: "complete", observedAtMs: 1_000_000, items, truncated: false };
  await query(
    api.url,
    `insert into setpoint.subject_observation (organization_id, subject_id, observation)
     select s.organization_id, s.id, '${JSON.stringify(observation)}'::json from setpoint.subject as s
     join setpoint.resource as r on r.uid = s.resource_uid where r.name = '${provider}'
     on conflict (organization_id, subject_id) do update set observation = excluded.observation`,
  );
  await settleLook(api.url, provider);
}

for (const [word, family] of [
  ["hetzner", "hetzner-cloud"],
  ["ionos", "ionos"],
] as const) {
  test(`connect ${word} goes from a token over what is there to hosts that are watched`, async () => {
    const asked: string[] = [];
    const ran = await setpoint(["connect", word], {
      interactive: true,
      askHidden: () => Promise.resolve("canary-token"),
      ask: (question) => {
        asked.push(question);
        return Promise.resolve(`server ${word}-1 (0)`);
      },
      sleep: () => sees(word),
    });
    assert.equal(ran.code, 0, ran.notes);
    assert.equal(asked.length, 1, "what to adopt, and nothing else");
    assert.match(ran.data, new RegExp(`account/${word} added\nComputeProvider/${word} declared in mode observe\n`));
    assert.match(ran.data, /server Big Server \(1\) +no: Big Server cannot be the name of a Host/);
    assert.match(ran.data, /network backend \(2\) +no: a network is declared by hand/);
    assert.match(ran.notes, /setpoint mode host\/[\w-]+ enforce\n.*setpoint mode computeprovider\/\w+ enforce\n$/s);
    assert.ok(!`${ran.data}${ran.notes}`.includes("canary-token"));
    const name = /Host\/([\w-]+) declared/.exec(ran.data)?.[1] ?? assert.fail(ran.data);
    const read = await setpoint(["get", `host/${name}`, "-o", "json"]);
    const host = JSON.parse(read.data) as { metadata: { mode: string }; spec: Record<string, unknown> };
    assert.equal(host.metadata.mode, "observe", "nobody said that it may act");
    const { account, power, protect, adopt, volumes, labels, type } = host.spec;
    assert.deepEqual(
      { account, power, protect, adopt, volumes, labels, type },
      {
        account: word,
        power: "off",
        protect: canProtect(word),
        adopt: true,
        volumes: ["data"],
        labels: facts.labels,
        type: "cx22",
      },
      "as it is, so that adopting it changes nothing on it",
    );
    const provider = JSON.parse((await setpoint(["get", `computeprovider/${word}`, "-o", "json"])).data) as {
      spec: { family: string };
    };
    assert.equal(provider.spec.family, family);
  });
}

/** What a scheduler records of an account that it could not look at: nothing was ever confirmed, so the verdict reads as old. */
async function fails(provider: string, result: "failed" | "stalled", message: string): Promise<void> {
  const [status, reason] = result === "stalled" ? ["False", "Stalled"] : ["Unknown", "LookFailed"];
  const conditions = [{ type: "Ready", status, reason, message, sinceMs: 1_000_000 }];
  const cycle = {
    atMs: 1_000_000,
    result,
    spentMs: { observe: 1, diff: 0, guard: 0, act: 0 },
    create: 0,
    update: 0,
    delete: 0,
    written: 0,
  };
  await records(provider, {
    observedGeneration: 1,
    conditions,
    differences: 0,
    owned: 0,
    failing: true,
    cycles: [cycle],
  });
}

async function records(name: string, recorded: object): Promise<void> {
  await query(
    api.url,
    `insert into setpoint.subject_state (organization_id, subject_id, status)
     select s.organization_id, s.id, '${JSON.stringify(recorded).replaceAll("'", "''")}'::json from setpoint.subject as s
     join setpoint.resource as r on r.uid = s.resource_uid where r.name = '${name}'
     on conflict (organization_id, subject_id) do update set status = excluded.status`,
  );
  await settleLook(api.url, name);
}

describe("an account that cannot be looked at", () => {
  const words = "CREDENTIAL_REFUSED: Hetzner Cloud answered 401: unauthorized. Check the account's token";
  const connect = (name: string, result: "failed" | "stalled") => {
    let nowMs = 1_000_000;
    let looks = 0;
    const ran = setpoint(["connect", "hetzner", "--name", name, "--token-file", "-"], {
      readStdin: () => Promise.resolve("a-token"),
      nowMs: () => nowMs,
      sleep: async (ms: number) => {
        nowMs += ms;
        if (looks++ === 0) await fails(name, result, words);
      },
    });
    return ran.then(({ code, notes }) => ({ code, notes, looks }));
  };

  test("is said to be so at once, in the provider's words, where trying again would change nothing", async () => {
    const { code, notes, looks } = await connect("refused", "stalled");
    assert.equal(code, 4, notes);
    assert.match(
      notes,
      /computeprovider\/refused could not be looked at: CREDENTIAL_REFUSED: .*Check the account's token/,
    );
    assert.match(notes, /setpoint secret set-credential refused/);
    assert.ok(looks < 4, String(looks));
    const why = await setpoint(["why", "computeprovider/refused"]);
    const [first = ""] = why.data.split("\n");
    assert.match(first, /it could not be looked at yet: CREDENTIAL_REFUSED: .*Check the account's token/);
    assert.match(why.data, /✗ it could not be looked at yet: CREDENTIAL_REFUSED: .*Check the account's token/);
    assert.match(why.data, /setpoint secret set-credential refused/);
    assert.doesNotMatch(why.data, /it was: CREDENTIAL_REFUSED/);
  });

  test("that was seen before is said to be so too, before what its mode would do", async () => {
    await setpoint(["connect", "hetzner", "--name", "seen", "--token-file", "-"], {
      readStdin: () => Promise.resolve("a-token"),
      sleep: () => sees("seen"),
    });
    await fails("seen", "stalled", words);
    const [first = ""] = (await setpoint(["why", "computeprovider/seen"])).data.split("\n");
    assert.match(first, /it cannot be looked at any more, since \S+: CREDENTIAL_REFUSED: .*Check the account's token/);
  });

  test("is waited for where it may pass, and then said in the same words", async () => {
    const { code, notes, looks } = await connect("shaky", "failed");
    assert.equal(code, 9, notes);
    assert.match(notes, /could not be looked at in time: CREDENTIAL_REFUSED: /);
    assert.doesNotMatch(notes, /Does a scheduler run/);
    assert.ok(looks > 100, String(looks));
  });
});

describe("an account that was connected before, and has another credential now", () => {
  const words = "CREDENTIAL_REFUSED: Hetzner Cloud answered 401: unauthorized. Check the account's token";
  const connect = (name: string, look: () => Promise<void>) =>
    setpoint(["connect", "hetzner", "--name", name, "--token-file", "-"], {
      readStdin: () => Promise.resolve("a-token"),
      sleep: look,
    });
  const refuses = (name: string) => () => fails(name, "stalled", words);
  const answers = (name: string) => async () => {
    await records(name, { observedGeneration: 1, conditions: [], differences: 0, owned: 0, failing: false });
    await sees(name);
  };

  test("is not called fine by what the credential before it saw", async () => {
    assert.equal((await connect("once-right", answers("once-right"))).code, 0);
    const { code, notes, data } = await connect("once-right", refuses("once-right"));
    assert.equal(code, 4, data);
    assert.match(notes, /computeprovider\/once-right could not be looked at: CREDENTIAL_REFUSED/);
  });

  test("is not called refused by what became of the credential before it", async () => {
    assert.equal((await connect("once-wrong", refuses("once-wrong"))).code, 4);
    const { code, notes } = await connect("once-wrong", answers("once-wrong"));
    assert.equal(code, 0, notes);
    assert.match(notes, /computeprovider\/once-wrong: 3 there/);
  });
});

test("what is as declared and has something to report says both at once", async () => {
  assert.equal((await setpoint(["account", "add", "reports", "--provider", "hetzner-cloud"])).code, 0);
  const manifest = join(folder, "reports.yaml");
  writeFileSync(
    manifest,
    "apiVersion: setpoint/v1\nkind: CloudNetwork\nmetadata: {name: reports}\nspec: {account: reports, range: 10.0.0.0/16}\n",
  );
  assert.equal((await setpoint(["apply", "-f", manifest])).code, 0);
  const about = (type: string, message: string) => ({ type, status: "True", reason: "R", message, sinceMs: 1_000_000 });
  const conditions = [about("Ready", "as declared"), about("Synced", "0"), about("Report/Said", "the token is old")];
  const lookedAtMs = Date.now();
  await records("reports", { observedGeneration: 1, conditions, differences: 0, owned: 1, failing: false, lookedAtMs });
  await sees("reports");
  const [first = ""] = (await setpoint(["why", "cloudnetwork/reports"])).data.split("\n");
  assert.match(first, /CloudNetwork\/reports is as declared, but Report\/Said is True .*the token is old/);
  const listed = (await setpoint(["get", "cloudnetwork"])).data;
  assert.match(listed, /^reports .* as declared, but Said: the token is old$/m);
});

test("what is wrong with the words is said before anything is declared", async () => {
  const empty = join(folder, "empty.token");
  writeFileSync(empty, "\n");
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [["connect", "hetzner", "--name", "x"], /--token-file FILE, or - for stdin/],
    [["connect", "hetzner", "--name", "x", "--token-file", empty], /nothing in/],
    [["connect", "hetzner", "--name", "x", "--mode", "enforce"], /no mode to begin with/],
    [["connect", "ionos", "--name", "Not A Name"], /cannot be the name of an account/],
    [["connect", "ionos", "the-token-itself"], /too many arguments/],
  ];
  for (const [words, message] of refused) {
    const { code, notes } = await setpoint(words);
    assert.equal(code, 64, notes);
    assert.match(notes, message);
  }
  assert.doesNotMatch((await setpoint(["account", "list", "-o", "name"])).data, /account\/x/);
});
