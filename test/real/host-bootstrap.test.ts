import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { findProgram } from "../../scripts/find-program.mjs";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { worldToken } from "../../src/world/account-book.ts";
import type { WorldReaction, WorldRequest } from "../../src/world/exchange.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type Product, startProduct, until } from "../support/product.ts";
import { type SshProxy, type SshServer, startSshProxy, startSshServer } from "../support/ssh-server.ts";
import { requireReal } from "./requirement.ts";

/** A world whose servers have addresses of loopback instead of ones that lead nowhere: a real sshd listens there. */
class LoopbackWorld extends World {
  override handle(request: WorldRequest): WorldReaction {
    const reaction = super.handle(request);
    const text = JSON.stringify(reaction.answer.body)?.replaceAll(/\b198\.(18|19)\./g, "127.$1.");
    const body: unknown = text === undefined ? undefined : JSON.parse(text);
    return { ...reaction, answer: { ...reaction.answer, body } };
  }
}

interface Scene {
  readonly ssh: SshServer;
  readonly proxy: SshProxy;
  readonly product: Product;
  readonly world: World;
  declare(name: string, ssh: object): Promise<string>;
}

const wrongKey = `SHA256:${"A".repeat(43)}`;
const line = (name: string) => `echo done >> "$HOME/${name}"\n`;
/** Long enough to be cut in its middle. */
const long = `${`# ${"x".repeat(78)}\n`.repeat(600)}${line("cut")}`;
const undo = new AsyncDisposableStack();
let scene: Scene | undefined;

before(async () => {
  const program = findProgram("sshd");
  if (program === undefined) return;
  const ssh = undo.use(await startSshServer(program));
  const proxy = undo.use(await startSshProxy(ssh.port));
  const world = new LoopbackWorld(systemClock, { pace: 0.02 });
  const served = undo.use(await serveWorld(world, systemClock, 0));
  const folder = undo.use(temporaryFolder());
  const product = startProduct({ dataDirectory: join(folder.path, "data"), port: await freePort() });
  undo.defer(async () => void (await product.end("SIGTERM")));
  await product.ready();
  const { must } = product;
  const settings = ["--set", `url=${served.url}/v1`, "--calls-per-second", "50"];
  await must("account", "add", "cloud", "--provider", "hetzner-cloud", ...settings);
  const token = join(folder.path, "token");
  writeFileSync(token, worldToken("demo"));
  await must("secret", "set-credential", "cloud", "--write-file", token);
  for (const [name, file] of Object.entries({ friend: ssh.keyFile, stranger: ssh.strangerKeyFile })) {
    await must("account", "add", name, "--provider", "ssh");
    await must("secret", "set-credential", name, "--write-file", file);
  }
  scene = { ssh, proxy, product, world, declare: declareAt({ ssh, product, file: join(folder.path, "host.json") }) };
});
after(() => undo.disposeAsync());

function declareAt(at: { readonly ssh: SshServer; readonly product: Product; readonly file: string }) {
  return async (name: string, ssh: object) => {
    const spec = {
      account: "cloud",
      type: "cx22",
      image: "debian-12",
      location: "fsn1",
      bootstrap: { ssh: { account: "friend", user: at.ssh.user, port: at.ssh.port, ...ssh } },
    };
    const document = { apiVersion: "setpoint/v1", kind: "Host", metadata: { name, mode: "enforce" }, spec };
    writeFileSync(at.file, JSON.stringify(document));
    await at.product.must("apply", "-f", at.file);
    const [id = ""] = (await at.product.must("ops", "list", "--on", `host/${name}`, "-o", "name")).split("\n");
    return id;
  };
}

function sceneOf(t: TestContext): Scene | undefined {
  return requireReal(t, "OpenSSH") === undefined ? undefined : scene;
}

interface Operation {
  readonly state: string;
  readonly message: string;
  readonly step?: string;
  readonly attempts?: number;
}

/** Waits until an operation has ended or waits for a person. */
async function rested({ product }: Scene, id: string): Promise<Operation> {
  const read = async () => JSON.parse(await product.must("ops", "get", id, "-o", "json")) as Operation;
  return await until(`operation ${id}`, read, ({ state }) => state !== "running", 1_200);
}

async function succeeded(at: Scene, id: string): Promise<void> {
  const { state, message } = await rested(at, id);
  assert.equal(state, "succeeded", `${message}\n${at.ssh.printed()}`);
}

test("a new server is signed in to, its script is run once, and what is on record has neither script nor key", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { product, ssh } = scene;
  const id = await scene.declare("good", { script: `#!/bin/sh\necho "made by $(whoami)"\nsleep 1\n${line("good")}` });
  await succeeded(scene, id);
  assert.equal(ssh.read("good"), "done\n");
  const steps = await product.must("ops", "steps", id, "-o", "json");
  const order = ["answers", "host-key", "runs", "bootstrap", "bootstrapped", "reachable", "active"];
  const { items } = JSON.parse(steps) as {
    readonly items: readonly { readonly step: string; readonly result: string }[];
  };
  const done = items.filter(({ result }) => result === "done").map(({ step }) => step);
  assert.deepEqual(
    done.filter((step) => order.includes(step)),
    order,
  );
  assert.ok(steps.includes(`learned the host key ${ssh.fingerprint}`), steps);
  assert.doesNotMatch(steps, /made by|PRIVATE KEY/);
});

test("another host key is refused with both fingerprints before anybody signs in; the right one, once declared, will do", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const id = await scene.declare("host-key", { hostKey: wrongKey, script: line("host-key") });
  const { state, message, step } = await rested(scene, id);
  assert.deepEqual([state, step], ["attention", "runs"]);
  assert.ok(message.includes(wrongKey) && message.includes(scene.ssh.fingerprint), message);
  assert.match(message, /attempt 1 of .*declare it as spec\.bootstrap\.ssh\.hostKey/s);
  assert.equal(scene.ssh.read("host-key"), "");
  await scene.declare("host-key", { hostKey: scene.ssh.fingerprint, script: line("host-key") });
  await scene.product.must("ops", "retry", id, "--step", "host-key", "--reason", "it was mistyped");
  await succeeded(scene, id);
  assert.equal(scene.ssh.read("host-key"), "done\n");
});

test("a key that the server does not know waits for a person after a few tries, in the server's words", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const id = await scene.declare("user-key", { account: "stranger", script: line("user-key") });
  const { state, message, step } = await rested(scene, id);
  assert.deepEqual([state, step], ["attention", "runs"]);
  assert.match(message, /attempt 6 of 6.*does not let .* sign in with the key of account 'stranger' \(SHA256:/s);
  assert.match(message, /authentication methods failed.*authorized_keys/s);
  assert.equal(scene.ssh.read("user-key"), "");
  await scene.product.must("ops", "cancel", id, "--reason", "the wrong key");
  assert.equal((await rested(scene, id)).state, "cancelled");
});

test("a script that fails waits for a person with its own last words, and is run anew by theirs alone", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const failing = `${line("failing")}echo "no such package: nginx-ultra" >&2\nexit 3\n`;
  const id = await scene.declare("failing", { script: failing });
  const { state, message, step } = await rested(scene, id);
  assert.deepEqual([state, step], ["attention", "bootstrapped"]);
  assert.match(message, /exit code 3.*no such package: nginx-ultra.*ops retry .* --step runs/s);
  await scene.product.must("ops", "resume", id, "--reason", "looking again changes nothing");
  assert.equal((await rested(scene, id)).state, "attention");
  assert.equal(scene.ssh.read("failing"), "done\n");
  await scene.declare("failing", { script: line("failing") });
  await scene.product.must("ops", "retry", id, "--step", "runs", "--reason", "corrected");
  await succeeded(scene, id);
  assert.equal(scene.ssh.read("failing"), "done\ndone\n");
});

test("a connection that is cut in the middle of the script, or behind it, leaves one run of the whole script", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  // Nothing but the script is that long: twice it is cut in its middle, once when nearly all of it is through.
  scene.proxy.cutsAfterBytes.push(20_000, 35_000, long.length - 100);
  const id = await scene.declare("cut", { port: scene.proxy.port, script: long });
  await succeeded(scene, id);
  assert.equal(scene.proxy.cut, 3);
  assert.equal(scene.ssh.read("cut"), "done\n");
  const steps = await scene.product.must("ops", "steps", id, "-o", "json");
  assert.match(steps, /The connection to the server at 127\.18\.[\d.]+:\d+ ended before it had answered/);
});
