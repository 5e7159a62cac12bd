import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { OperationDocument } from "../../src/control-api/schemas/operation.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { CrateOutside } from "../support/crates/crate-outside.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type Product, startProduct, until } from "../support/product.ts";

/** The guards on pipelines, seen in the whole product from outside: API, scheduler and worker, by API and command line. */
const undo = new AsyncDisposableStack();
let outside: CrateOutside;
let product: Product;
let folder = "";
before(async () => {
  outside = undo.use(await CrateOutside.open());
  folder = undo.use(temporaryFolder()).path;
  const environment = {
    SETPOINT_KINDS: fileURLToPath(new URL("../support/crates/crate-kind.ts", import.meta.url)),
    CRATES_URL: outside.url,
  };
  product = startProduct({ dataDirectory: join(folder, "data"), port: await freePort(), environment });
  undo.defer(async () => void (await product.end("SIGTERM")));
  await product.ready();
});
after(() => undo.disposeAsync());

async function apply(name: string, metadata: object = {}, spec: object = {}): Promise<void> {
  const file = join(folder, `${name}.yaml`);
  const manifest = { apiVersion: "setpoint/v1", kind: "Crate", metadata: { name, ...metadata }, spec };
  writeFileSync(file, JSON.stringify(manifest));
  await product.must("apply", "-f", file);
}

async function get(path: string): Promise<unknown> {
  const token = readFileSync(join(product.dataDirectory, "operator.token"), "utf8").trim();
  const answer = await fetch(`${product.url}/v1/organizations/default${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return await answer.json();
}

async function newest(name: string): Promise<OperationDocument> {
  const { items } = (await get(`/crates/${name}/operations`)) as { items: readonly OperationDocument[] };
  const [first] = items;
  assert.ok(first, `there is an operation on ${name}`);
  return first;
}

function reached(name: string, state: OperationDocument["state"]): Promise<OperationDocument> {
  return until(
    `the operation on ${name} to be ${state}`,
    () => newest(name),
    (operation) => operation.state === state,
  );
}

const writes = (name: string) => outside.calls.filter(({ method, path }) => method !== "GET" && path.includes(name));

test("in observe mode an operation ends without having run, and says so everywhere", async () => {
  outside.isOpen = () => true;
  await apply("watched", { mode: "observe" });
  const { id, message } = await reached("watched", "not-run");
  assert.match(message, /^not run: observe mode/);
  const { code, stderr } = await product.setpoint("ops", "watch", id, "--timeout", "30s");
  assert.equal(code, 4);
  assert.match(stderr, /not run: observe mode/);
  assert.match(await product.must("why", "crate/watched"), / was not run: observe mode/);
  assert.deepEqual(writes("watched"), []);
});

test("a delete over the budget is held, and runs once its digest was approved", async () => {
  outside.isOpen = () => true;
  await apply("heavy", {}, { things: 7 });
  await reached("heavy", "succeeded");
  await product.must("delete", "crate/heavy");
  const held = await reached("heavy", "held");
  assert.equal(held.pipeline, "crate.unpack");
  assert.match(held.message, /delete-budget: 8 deletes/);
  assert.match(await product.must("ops", "get", held.id), /State +held\n/);
  assert.match(await product.must("why", "crate/heavy"), /is held at step 'admit': delete-budget: 8 deletes/);
  const id = (await product.must("held", "list", "-o", "name")).trim();
  const { digest } = JSON.parse(await product.must("held", "show", id, "-o", "json")) as { digest: string };
  assert.notEqual((await product.setpoint("approve", id, "--digest", digest.replace(/.$/, "_"))).code, 0);
  assert.ok(outside.crates.has("heavy"), "nothing was deleted before the approval");
  await product.must("approve", id, "--digest", digest);
  await product.must("ops", "watch", held.id, "--timeout", "60s");
  assert.equal(outside.crates.has("heavy"), false);
  assert.equal(outside.effects.filter((effect) => effect === "unpack heavy").length, 1);
});

test("protection refuses a delete, and why names it", async () => {
  outside.isOpen = () => true;
  await apply("precious", { protect: true });
  await reached("precious", "succeeded");
  assert.match((await product.setpoint("delete", "crate/precious")).stderr, /protect/, "its own spec refuses at once");
  // A lock at the provider's is seen by nobody before the pipeline looks.
  await apply("locked");
  await reached("locked", "succeeded");
  Object.assign(outside.crates.get("locked") ?? {}, { lockedBy: "the harbour" });
  await product.must("delete", "crate/locked");
  const { message } = await reached("locked", "not-run");
  assert.match(message, /^not run: protection: protected against deletion: provider lock \(the harbour\)$/);
  assert.match(await product.must("why", "crate/locked"), / was not run: protection: .*the harbour/);
  assert.ok(outside.crates.has("locked"));
  assert.equal(outside.effects.includes("unpack locked"), false);
  assert.ok(outside.crates.has("precious"));
  assert.equal(outside.effects.includes("unpack precious"), false);
});

test("a freeze stops an operation between its steps", async () => {
  outside.isOpen = () => false;
  await apply("paused");
  await until(
    "it to wait at the gate",
    async () => outside.calls.some(({ path }) => path === "/gate/paused"),
    (waits) => waits,
  );
  await product.must("freeze", "--reason", "an incident", "--for", "10m");
  outside.isOpen = () => true;
  const frozen = await until(
    "it to say what it waits for",
    () => newest("paused"),
    ({ message }) => message.startsWith("waits before"),
  );
  assert.match(frozen.message, /paused at platform by .*: an incident/);
  assert.match(await product.must("why", "crate/paused"), /paused at platform by .*: an incident/);
  const before = writes("paused").length;
  await sleep(2_000);
  assert.equal(writes("paused").length, before);
  await product.must("resume", "--yes");
  await reached("paused", "succeeded");
});

test("a freeze keeps writes back within a second, whatever is under way", async () => {
  outside.isOpen = () => true;
  const names = Array.from({ length: 60 }, (_, index) => `busy-${index}`);
  const documents = names.map((name) => ({ apiVersion: "setpoint/v1", kind: "Crate", metadata: { name }, spec: {} }));
  const file = join(folder, "busy.yaml");
  writeFileSync(file, documents.map((document) => `---\n${JSON.stringify(document)}\n`).join(""));
  const applying = product.must("apply", "-f", file);
  await until(
    "writes to be under way",
    async () => writes("busy").length,
    (count) => count > 5,
  );
  await product.must("freeze", "--reason", "an incident", "--for", "10m");
  const frozenAtMs = performance.now();
  await applying;
  await sleep(4_000);
  const late = writes("busy").filter(({ atMs }) => atMs > frozenAtMs + 1_000);
  assert.deepEqual(late, []);
  assert.ok(
    names.some((name) => !outside.effects.includes(`label ${name}`)),
    "it was frozen in the middle",
  );
  await product.must("resume", "--yes");
  for (const name of names) await reached(name, "succeeded");
  for (const name of names) assert.equal(outside.crates.get(name)?.label, name);
});
