import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { worldToken } from "../../src/world/account-book.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { requireReal } from "./requirement.ts";

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3tqf0qF6MAt7ZbfW5NmBBBcQaG7DMRaGqHDjk3DKPV walk";
const certificate = readFileSync(new URL("../specs/example-certificate.pem", import.meta.url), "utf8");

interface Scene extends AsyncDisposable {
  /** Runs hcloud and answers with what it printed. */
  readonly hcloud: (...words: readonly string[]) => Promise<string>;
  /** The same, with the output as JSON. */
  readonly json: (...words: readonly string[]) => Promise<Record<string, unknown>>;
  readonly folder: string;
}

/** Hetzner's own command line against the world. It polls for ever what it does not find, so it has a time limit. */
async function sceneOf(t: TestContext): Promise<Scene | undefined> {
  const program = requireReal(t, "hcloud");
  if (program === undefined) return undefined;
  const undo = new AsyncDisposableStack();
  const { path: folder } = undo.use(temporaryFolder());
  const server = undo.use(await serveWorld(new World(systemClock, { pace: 0.02 }), systemClock, 0));
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    HCLOUD_ENDPOINT: `${server.url}/v1`,
    HCLOUD_TOKEN: worldToken("demo"),
  };
  const hcloud = (...words: readonly string[]) =>
    new Promise<string>((resolve, reject) => {
      execFile(program, words, { env, timeout: 30_000 }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`hcloud ${words.join(" ")}: ${stdout}${stderr}`, { cause: error }));
      });
    });
  const json = async (...words: readonly string[]) =>
    JSON.parse(await hcloud(...words, "-o", "json")) as Record<string, unknown>;
  return { hcloud, json, folder, [Symbol.asyncDispose]: () => undo.disposeAsync() };
}

/** A script of commands, one a line, each of which must succeed. */
async function run({ hcloud }: Scene, script: string): Promise<void> {
  for (const line of script.trim().split("\n")) await hcloud(...line.trim().split(/\s+/));
}

const basics = (folder: string) => `
  ssh-key create --name me --public-key-from-file ${folder}/key.pub
  network create --name inner --ip-range 10.0.0.0/16
  network add-subnet inner --type cloud --network-zone eu-central --ip-range 10.0.1.0/24
  server create --name web-1 --type cx23 --image debian-13 --location nbg1 --ssh-key me --label role=web`;

function withKey(scene: Scene): string {
  writeFileSync(join(scene.folder, "key.pub"), `${publicKey}\n`);
  writeFileSync(
    join(scene.folder, "rules.json"),
    JSON.stringify([{ direction: "in", protocol: "icmp", source_ips: ["::/0"] }]),
  );
  return basics(scene.folder);
}

test("hcloud makes, lists, describes, changes, powers and deletes servers", async (t) => {
  await using scene = await sceneOf(t);
  if (scene === undefined) return;
  await run(scene, withKey(scene));
  assert.match(await scene.hcloud("server", "list"), /web-1 +running +198\.18\./);
  const before = await scene.json("server", "describe", "web-1");
  assert.deepEqual([before["name"], before["status"], before["labels"]], ["web-1", "running", { role: "web" }]);
  await run(
    scene,
    `server update web-1 --name web-2
     server add-label web-2 tier=front
     server attach-to-network web-2 --network inner --ip 10.0.1.7
     server change-alias-ips web-2 --network inner --alias-ips 10.0.1.8
     server set-rdns web-2 --hostname web.example.test
     server enable-protection web-2 delete rebuild
     server disable-protection web-2 delete rebuild
     server reboot web-2
     server reset web-2
     server enable-backup web-2
     server disable-backup web-2
     server enable-rescue web-2
     server disable-rescue web-2
     server attach-iso web-2 FreeBSD-14.3-RELEASE-amd64-dvd1.iso
     server detach-iso web-2
     server create-image web-2 --type snapshot --description copy
     server shutdown web-2
     server poweroff web-2
     server change-type web-2 cx33 --keep-disk
     server poweron web-2`,
  );
  const after = await scene.json("server", "describe", "web-2");
  assert.deepEqual(after["labels"], { role: "web", tier: "front" });
  const [net] = after["private_net"] as { readonly ip: string; readonly alias_ips: readonly string[] }[];
  assert.deepEqual([net?.ip, net?.alias_ips], ["10.0.1.7", ["10.0.1.8"]]);
  assert.equal((after["server_type"] as { readonly name: string }).name, "cx33");
  assert.equal(
    (after["public_net"] as { readonly ipv4: { readonly dns_ptr: string } }).ipv4.dns_ptr,
    "web.example.test",
  );
  await run(
    scene,
    "server rebuild web-2 --image debian-12\nserver detach-from-network web-2 --network inner\nserver delete web-2",
  );
  assert.doesNotMatch(await scene.hcloud("server", "list", "-o", "noheader"), /running/);
  await assert.rejects(scene.hcloud("server", "create", "--name", "x", "--type", "cx99", "--image", "debian-13"));
});

test("hcloud makes, changes and deletes networks, keys, firewalls and placement groups", async (t) => {
  await using scene = await sceneOf(t);
  if (scene === undefined) return;
  await run(
    scene,
    `${withKey(scene)}
     ssh-key list
     ssh-key describe me
     ssh-key update me --name us
     ssh-key add-label us a=b
     network list
     network describe inner
     network update inner --name outer
     network add-route outer --destination 10.100.1.0/24 --gateway 10.0.1.1
     network remove-route outer --destination 10.100.1.0/24 --gateway 10.0.1.1
     network change-ip-range outer --ip-range 10.0.0.0/12
     network add-label outer a=b
     network enable-protection outer delete
     network disable-protection outer delete
     firewall create --name wall
     firewall add-rule wall --direction in --protocol tcp --port 22 --source-ips 0.0.0.0/0 --source-ips ::/0
     firewall apply-to-resource wall --type server --server web-1
     firewall update wall --name moat
     firewall list
     placement-group create --name apart --type spread
     placement-group list
     placement-group update apart --name spread
     placement-group delete spread`,
  );
  const wall = await scene.json("firewall", "describe", "moat");
  assert.equal((wall["rules"] as unknown[]).length, 1);
  assert.equal((wall["applied_to"] as unknown[]).length, 1);
  await run(
    scene,
    `firewall replace-rules moat --rules-file ${scene.folder}/rules.json
     firewall remove-from-resource moat --type server --server web-1
     firewall delete moat
     network remove-subnet outer --ip-range 10.0.1.0/24
     network delete outer
     ssh-key delete us`,
  );
  for (const sort of ["firewall", "network", "ssh-key", "placement-group"]) {
    assert.equal((await scene.hcloud(sort, "list", "-o", "noheader")).trim(), "");
  }
});

test("hcloud makes, attaches, changes and deletes volumes, floating and primary IPs", async (t) => {
  await using scene = await sceneOf(t);
  if (scene === undefined) return;
  await run(
    scene,
    `${withKey(scene)}
     volume create --name disk --size 10 --location nbg1 --format ext4
     volume list
     volume describe disk
     volume attach disk --server web-1
     volume update disk --name data
     volume add-label data a=b
     floating-ip create --type ipv4 --name float --home-location nbg1 --description mine
     floating-ip list
     floating-ip assign float web-1
     floating-ip update float --name raft --description yours
     floating-ip set-rdns raft --hostname float.example.test
     primary-ip create --type ipv4 --name kept --datacenter nbg1-dc3
     primary-ip list
     primary-ip update kept --name held
     primary-ip delete held`,
  );
  const server = await scene.json("server", "describe", "web-1");
  assert.equal((server["volumes"] as unknown[]).length, 1);
  const ip = await scene.json("floating-ip", "describe", "raft");
  assert.deepEqual([ip["server"] !== null, ip["description"]], [true, "yours"]);
  await run(
    scene,
    `volume detach data
     volume resize data --size 20
     volume enable-protection data delete
     volume disable-protection data delete
     volume delete data
     floating-ip unassign raft
     floating-ip delete raft`,
  );
  for (const sort of ["volume", "floating-ip"]) {
    assert.equal((await scene.hcloud(sort, "list", "-o", "noheader")).trim(), "");
  }
});

test("hcloud makes, changes and deletes load balancers and certificates, and reads the catalogues", async (t) => {
  await using scene = await sceneOf(t);
  if (scene === undefined) return;
  writeFileSync(join(scene.folder, "cert.pem"), certificate);
  writeFileSync(join(scene.folder, "key.pem"), "-----BEGIN PRIVATE KEY-----\nnot one\n-----END PRIVATE KEY-----\n");
  await run(
    scene,
    `${withKey(scene)}
     certificate create --name cert --type uploaded --cert-file ${scene.folder}/cert.pem --key-file ${scene.folder}/key.pem
     certificate list
     load-balancer create --name front --type lb11 --location nbg1
     load-balancer add-service front --protocol http --listen-port 80 --destination-port 8080
     load-balancer add-target front --server web-1
     load-balancer attach-to-network front --network inner
     load-balancer change-algorithm front --algorithm-type least_connections
     load-balancer update front --name edge
     load-balancer update-service edge --listen-port 80 --health-check-interval 20s
     load-balancer list`,
  );
  const edge = await scene.json("load-balancer", "describe", "edge");
  assert.equal((edge["services"] as unknown[]).length, 1);
  assert.equal((edge["targets"] as unknown[]).length, 1);
  assert.deepEqual(edge["algorithm"], { type: "least_connections" });
  await run(
    scene,
    `load-balancer remove-target edge --server web-1
     load-balancer delete-service edge --listen-port 80
     load-balancer detach-from-network edge --network inner
     load-balancer change-type edge lb21
     load-balancer delete edge
     certificate delete cert
     location list
     datacenter list
     server-type list
     load-balancer-type list
     iso list
     image list`,
  );
  assert.equal((await scene.hcloud("load-balancer", "list", "-o", "noheader")).trim(), "");
});
