import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/ports/json.ts";
import type { OperationRow } from "../../sim/store/rows.ts";
import { CloudLab } from "../../support/cloud-lab.ts";

const plain = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1", labels: { role: "web" } };
const loss = /the server is destroyed with its disk and its addresses/;

interface Server {
  readonly id: number;
  readonly name: string;
  readonly server_type: { readonly name: string };
  readonly datacenter: { readonly location: { readonly name: string } };
  readonly labels: Readonly<Record<string, string>>;
}

/** A host as it was made, beside a server of somebody else. */
async function made(more: JsonObject = {}): Promise<CloudLab> {
  const lab = await CloudLab.open({ pace: 0.1 });
  lab.console("POST", "/servers", { name: "somebodys", server_type: "cx22", image: "debian-12", location: "fsn1" });
  await lab.bench.declare("Host/web-1", { ...plain, ...more });
  const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"));
  assert.equal(state, "succeeded", message);
  await lab.bench.pass({ minutes: 6 });
  assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
  return lab;
}

const own = (lab: CloudLab): Server => {
  const found = lab.list<Server>("servers").filter(({ name }) => name === "web-1");
  assert.equal(found.length, 1, "there is one server of this host");
  return found[0] ?? assert.fail();
};
const operations = (lab: CloudLab): readonly OperationRow[] =>
  [...lab.bench.store.state.tables.operations.values()].filter(({ pipeline }) => pipeline === "host.replace");
const onlyHeld = (lab: CloudLab) => {
  const [held, ...more] = lab.bench.heldChanges();
  assert.equal(more.length, 0);
  if (held === undefined) assert.fail(`nothing is held: ${lab.bench.ready("Host/web-1")}`);
  const [item] = lab.bench.store.state.tables.heldChanges.get(held.id)?.items ?? [];
  return { ...held, differences: item?.differences ?? [] };
};

/** The spec changes as through the API: the operation that goes with declaring runs too. */
async function redeclare(lab: CloudLab, more: JsonObject): Promise<void> {
  await lab.bench.declare("Host/web-1", { ...plain, ...more });
  const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"));
  assert.equal(state, "succeeded", message);
  await lab.bench.pass({ minutes: 6 });
}

async function approveAndFinish(lab: CloudLab, seconds = 600): Promise<OperationRow> {
  await lab.bench.approve(onlyHeld(lab));
  await lab.bench.pass({ minutes: 1 });
  const [operation, ...more] = operations(lab);
  assert.ok(operation !== undefined && more.length === 0, "one operation was started");
  return await lab.finish(operation.id, seconds);
}

describe("another type, location or image is another server", () => {
  const changes: readonly (readonly [string, JsonObject, string])[] = [
    ["type", { type: "cx32" }, "/type"],
    ["location", { location: "nbg1" }, "/location"],
    ["image", { image: "ubuntu-24.04" }, "/image"],
  ];
  for (const [what, more, field] of changes) {
    test(`a declared ${what} that changed waits for a person, and is then made so`, async () => {
      const lab = await made();
      const { id, ...before } = own(lab);
      const theirs = lab.list<Server>("servers").filter(({ name }) => name === "somebodys");
      const from = lab.lastRequest;
      await redeclare(lab, more);
      await lab.bench.pass({ hours: 2 });
      assert.deepEqual([own(lab).id, lab.writes(from)], [id, []], "nothing happens by itself");

      const { guard, items, reason, differences } = onlyHeld(lab);
      assert.deepEqual([guard, items.length, items[0]?.action], ["replacement", 1, "replace"]);
      assert.deepEqual(
        differences.map((difference) => difference.field),
        [field],
      );
      assert.match(reason, loss);
      assert.match(lab.bench.ready("Host/web-1"), loss);

      const { state, message, author, journal } = await approveAndFinish(lab);
      assert.equal(state, "succeeded", message);
      const [admitted] = journal.filter(({ step }) => step === "admit");
      assert.match(JSON.stringify(admitted?.output), /"delete server web-1","create server web-1"/);
      assert.ok(
        journal.every(({ result }) => result !== "moved"),
        "the whole of it was admitted before its first write",
      );
      assert.equal(author.name, "approver");
      const after = own(lab);
      assert.notEqual(after.id, id);
      assert.deepEqual(after.labels, before.labels, "with the very mark");
      assert.equal(after.server_type.name, more["type"] ?? "cx22");
      assert.equal(after.datacenter.location.name, more["location"] ?? "fsn1");
      assert.deepEqual(
        lab.list<Server>("servers").filter(({ name }) => name === "somebodys"),
        theirs,
      );
      await lab.bench.pass({ minutes: 12 });
      assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
      assert.deepEqual([lab.bench.heldChanges().length, operations(lab).length, own(lab).id], [0, 1, after.id]);
      await lab.bench.stop();
    });
  }

  test("what waits keeps nothing else from being healed", async () => {
    const lab = await made();
    const { id } = own(lab);
    await redeclare(lab, { type: "cx32", labels: { role: "db" } });
    lab.console("PUT", `/servers/${id}`, { name: "mine" });
    await lab.bench.pass({ minutes: 12 });
    assert.deepEqual([own(lab).id, own(lab).labels["role"]], [id, "db"]);
    assert.equal(onlyHeld(lab).guard, "replacement");
    await lab.bench.stop();
  });

  test("a server that somebody resized at the provider waits too, and is well again once it is resized back", async () => {
    const lab = await made();
    const { id } = own(lab);
    const resize = (type: string) => {
      lab.console("POST", `/servers/${id}/actions/poweroff`, {});
      lab.world.advance(60_000);
      lab.console("POST", `/servers/${id}/actions/change_type`, { server_type: type, upgrade_disk: false });
      lab.world.advance(600_000);
    };
    resize("cx32");
    await lab.bench.pass({ minutes: 12 });
    assert.equal(onlyHeld(lab).guard, "replacement");
    assert.deepEqual([own(lab).id, operations(lab).length], [id, 0]);
    resize("cx22");
    await lab.bench.pass({ minutes: 12 });
    assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
    assert.equal(lab.bench.heldChanges().length, 0);
    await lab.bench.stop();
  });

  test("what the provider says of its image counts for nothing: of an adopted server no image is known", async () => {
    const lab = await CloudLab.open({ pace: 0.1 });
    lab.console("POST", "/servers", { name: "web-1", server_type: "cx22", image: "debian-12", location: "fsn1" });
    await lab.bench.declare("Host/web-1", { ...plain, adopt: true, image: "ubuntu-24.04" });
    const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"));
    assert.equal(state, "succeeded", message);
    await lab.bench.pass({ minutes: 12 });
    assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
    assert.equal(lab.bench.heldChanges().length, 0);
    await lab.bench.stop();
  });
});

describe("a replacement that is not approved, or not any more", () => {
  test("rejected: the server stays", async () => {
    const lab = await made();
    const { id } = own(lab);
    await redeclare(lab, { type: "cx32" });
    const held = onlyHeld(lab);
    const rejected = await lab.bench.store.reject({
      organizationId: "bench",
      heldChangeId: held.id,
      author: { name: "ada", type: "person" },
      comment: "keep it",
    });
    assert.equal(rejected, true);
    await lab.bench.pass({ hours: 3 });
    assert.deepEqual([own(lab).id, operations(lab).length, lab.bench.heldChanges().length], [id, 0, 0]);
    await lab.bench.stop();
  });

  test("the digest that was shown is refused once the spec says something else", async () => {
    const lab = await made();
    const { id } = own(lab);
    await redeclare(lab, { type: "cx32" });
    const shown = onlyHeld(lab);
    await redeclare(lab, { type: "cx42" });
    const now = onlyHeld(lab);
    assert.notEqual(now.digest, shown.digest);
    await assert.rejects(lab.bench.approve({ id: now.id, digest: shown.digest }), /moved/);
    await lab.bench.pass({ hours: 1 });
    assert.deepEqual([own(lab).id, operations(lab).length], [id, 0]);
    await lab.bench.stop();
  });

  for (const drainSeconds of [0, 300]) {
    test(`edited after it was approved and before the old one went (${drainSeconds} s of draining): it ends, and asks anew`, async () => {
      const lab = await made({ drainSeconds });
      const { id } = own(lab);
      await redeclare(lab, { type: "cx32", drainSeconds });
      await lab.bench.approve(onlyHeld(lab));
      await lab.bench.pass({ seconds: 30 });
      const operation = operations(lab)[0] ?? assert.fail("it was started");
      if (drainSeconds > 0) {
        await lab.finish(operation.id, 30);
        assert.equal(own(lab).labels["setpoint-drained"], "true");
      }
      await lab.bench.declare("Host/web-1", { ...plain, type: "cx42", drainSeconds });
      const { state, message } = await lab.finish(operation.id, 600);
      assert.equal(state, drainSeconds > 0 ? "cancelled" : "not-run", message);
      assert.match(message, /the declaration changed since this was approved/);
      await lab.bench.pass({ minutes: 12 });
      assert.equal(own(lab).id, id);
      assert.equal(onlyHeld(lab).differences[0]?.wanted, "cx42");
      assert.deepEqual(
        Object.keys(own(lab).labels).filter((label) => label.includes("drain")),
        [],
      );
      await lab.bench.stop();
    });
  }

  test("edited after the old one went: the new one is made as it is declared now", async () => {
    const lab = await made();
    await redeclare(lab, { type: "cx32" });
    await lab.bench.approve(onlyHeld(lab));
    await lab.bench.pass({ seconds: 30 });
    const operation = operations(lab)[0] ?? assert.fail("it was started");
    lab.fault({ kind: "error", method: "POST", path: "^/servers$", status: 503, times: 1 });
    for (let second = 0; second < 600 && lab.list<Server>("servers").some(({ name }) => name === "web-1"); second++) {
      await lab.turn(operation.id);
      await lab.bench.pass({ seconds: 1 });
    }
    await lab.bench.declare("Host/web-1", { ...plain, type: "cx42" });
    const { state, message } = await lab.finish(operation.id, 600);
    assert.equal(state, "succeeded", message);
    assert.equal(own(lab).server_type.name, "cx42");
    await lab.bench.stop();
  });

  test("protected by its own spec at the provider, or by Setpoint: it is refused, and nobody is asked", async () => {
    for (const [spec, options] of [
      [{ protect: true }, {}],
      [{}, { protect: true }],
    ] as const) {
      const lab = await made(spec);
      const { id } = own(lab);
      await lab.bench.declare("Host/web-1", { ...plain, ...spec, type: "cx32" }, options);
      await lab.bench.pass({ minutes: 12 });
      assert.match(lab.bench.ready("Host/web-1"), /protected against deletion/);
      assert.deepEqual([lab.bench.heldChanges().length, own(lab).id, operations(lab).length], [0, id, 0]);
      await lab.bench.stop();
    }
  });

  test("a type that cannot be had is found out before anything is removed", async () => {
    const lab = await made();
    const { id } = own(lab);
    await lab.bench.declare("Host/web-1", { ...plain, type: "cx9999" });
    await lab.bench.pass({ minutes: 6 });
    const { state, message } = await approveAndFinish(lab);
    assert.equal(state, "attention");
    assert.match(message, /no server type cx9999; .*the nearest are: cx22, .*\. Correct spec\.type/);
    assert.equal(own(lab).id, id);
    await lab.bench.stop();
  });
});

test("in propose mode one approval is enough for all that a replacement does", async () => {
  const lab = await made({ drainSeconds: 30 });
  const { id } = own(lab);
  await lab.bench.setPolicy({ mode: "propose" });
  await lab.bench.declare("Host/web-1", { ...plain, drainSeconds: 30, type: "cx32" });
  await lab.bench.pass({ minutes: 6 });
  const { state, message } = await approveAndFinish(lab);
  assert.equal(state, "succeeded", message);
  assert.notEqual(own(lab).id, id);
  await lab.bench.stop();
});

test("a replacement is charged to the delete budgets: behind it, others wait", async () => {
  const lab = await made();
  const one = { count: 1, percent: 100, atLeast: 1 };
  await lab.bench.setPolicy({ limits: { deletesPerHour: { account: one, organization: one, platform: one } } });
  await lab.bench.declare("Host/web-2", plain);
  const other = await lab.finish(await lab.start("host.create", "Host/web-2"));
  assert.equal(other.state, "succeeded", other.message);
  await redeclare(lab, { type: "cx32" });
  assert.equal((await approveAndFinish(lab)).state, "succeeded");
  await lab.bench.delete("Host/web-2");
  const { state, message } = await lab.finish(await lab.start("host.delete", "Host/web-2"), 30);
  assert.equal(state, "held", message);
  assert.match(message, /1 of 1 per hour are used/);
  await lab.bench.stop();
});

test("lost answers on the way: one server in the end", async () => {
  for (const path of ["^/servers$", "^/servers/"]) {
    const lab = await made();
    const { id } = own(lab);
    await redeclare(lab, { type: "cx32" });
    lab.fault({ kind: "timeout", when: "after", method: path === "^/servers$" ? "POST" : "DELETE", path, times: 1 });
    const { state, message } = await approveAndFinish(lab);
    assert.equal(state, "succeeded", message);
    assert.notEqual(own(lab).id, id);
    await lab.bench.stop();
  }
});

test("an approval whose operation could not be started asks again, and nothing was done", async () => {
  const lab = await made();
  const { id } = own(lab);
  await redeclare(lab, { type: "cx32" });
  const { store } = lab.bench;
  const start = store.startOperation.bind(store);
  store.startOperation = async () => {
    throw new Error("the database is away");
  };
  await lab.bench.approve(onlyHeld(lab));
  await lab.bench.pass({ minutes: 5 });
  store.startOperation = start;
  await lab.bench.pass({ minutes: 12 });
  assert.deepEqual([own(lab).id, operations(lab).length], [id, 0]);
  const { state, message } = await approveAndFinish(lab);
  assert.equal(state, "succeeded", message);
  assert.notEqual(own(lab).id, id);
  await lab.bench.stop();
});

test("whoever lets the removal be run again does not lose the new server", async () => {
  const reverseDns = "web-1.test";
  const lab = await made({ reverseDns });
  await redeclare(lab, { type: "cx32", reverseDns });
  lab.fault({ kind: "error", method: "POST", path: "/actions/change_dns_ptr$", status: 503 });
  const waiting = await approveAndFinish(lab);
  assert.equal(waiting.state, "attention", waiting.message);
  const { id } = own(lab);
  lab.heal();
  const command = { verb: "retry", step: "old-server" } as const;
  const author = { name: "ada", type: "person" } as const;
  const steer = { organizationId: "bench", operationId: waiting.id, command, author, reason: "again" };
  assert.equal((await lab.bench.store.steerOperation(steer)).result, "done");
  const { state, message } = await lab.finish(waiting.id, 600);
  assert.equal(state, "succeeded", message);
  assert.deepEqual([own(lab).id, own(lab).server_type.name], [id, "cx32"]);
  await lab.bench.stop();
});

test("a volume that is attached by name is kept, and is on the new server", async () => {
  const lab = await made();
  lab.console("POST", "/volumes", { name: "data", size: 10, location: "fsn1" });
  await redeclare(lab, { volumes: ["data"] });
  const volume = () => lab.list<{ readonly id: number; readonly server: number | null }>("volumes")[0];
  const before = volume();
  assert.equal(before?.server, own(lab).id);
  await redeclare(lab, { volumes: ["data"], type: "cx32" });
  const { state, message } = await approveAndFinish(lab);
  assert.equal(state, "succeeded", message);
  assert.notEqual(own(lab).id, before?.server);
  assert.deepEqual(volume(), { ...before, server: own(lab).id });
  await lab.bench.stop();
});

test("a host that names a profile has its type; another profile is another server, and asks first", async () => {
  const rest = { account: "demo", image: "debian-12", location: "fsn1", labels: { role: "web" } };
  const lab = await CloudLab.open({ pace: 0.1 });
  for (const [name, type] of [
    ["small", "cx22"],
    ["large", "cx32"],
  ] as const)
    await lab.bench.declare(`ComputeProfile/${name}`, { account: "demo", type });
  await lab.bench.declare("Host/web-1", { ...rest, profile: "small", profileType: "cx22" });
  const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"));
  assert.equal(state, "succeeded", message);
  await lab.bench.pass({ minutes: 6 });
  assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
  assert.equal(own(lab).server_type.name, "cx22");
  // Nobody has looked it up: nothing is concluded from that, and nothing is made.
  await lab.bench.declare("Host/web-1", { ...rest, profile: "large" });
  await lab.bench.pass({ minutes: 12 });
  assert.equal(lab.bench.heldChanges().length, 0);
  const unknown = await lab.finish(await lab.start("host.create", "Host/web-1"));
  assert.match(unknown.message, /ComputeProfile\/large was not looked up .* declare the host again/);
  const author = { name: "ada", type: "person" } as const;
  const released = { organizationId: "bench", operationId: unknown.id, author, reason: "so" };
  await lab.bench.store.steerOperation({ ...released, command: { verb: "release" } });
  await lab.bench.declare("Host/web-1", { ...rest, profile: "large", profileType: "cx32" });
  await lab.bench.pass({ minutes: 12 });
  assert.equal(own(lab).server_type.name, "cx22");
  assert.equal((await approveAndFinish(lab)).state, "succeeded");
  assert.equal(own(lab).server_type.name, "cx32");
  await lab.bench.stop();
});
