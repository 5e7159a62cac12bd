import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CloudLab } from "../../support/cloud-lab.ts";

const name = "ComputeProvider/main";
const server = { server_type: "cx22", image: "debian-12", location: "fsn1" };
const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f somebody";

const unmanaged = (lab: CloudLab) =>
  (lab.bench.statuses(name)[0]?.report as { readonly unmanaged?: Readonly<Record<string, number>> } | undefined)
    ?.unmanaged;

async function watch(lab: CloudLab, family: string): Promise<void> {
  await lab.bench.declare(name, { account: "demo", family }, { mode: "observe" });
  await lab.bench.pass({ minutes: 2 });
}

/** Things of somebody else's, one or more of each sort that no kind of ours makes. */
async function furnishedProject(): Promise<CloudLab> {
  const lab = await CloudLab.open({ pace: 0 });
  const made = lab.console("POST", "/servers", { ...server, name: "theirs" })["server"] as { readonly id: number };
  lab.console("POST", "/ssh_keys", { name: "laptop", public_key: publicKey });
  lab.console("POST", "/primary_ips", { name: "kept", type: "ipv4", assignee_type: "server", location: "fsn1" });
  lab.console("POST", "/floating_ips", { type: "ipv4", home_location: "fsn1" });
  lab.console("POST", "/placement_groups", { name: "apart", type: "spread" });
  lab.console("POST", `/servers/${made.id}/actions/create_image`, { type: "snapshot", description: "before" });
  lab.console("POST", `/servers/${made.id}/actions/enable_backup`);
  lab.console("POST", `/servers/${made.id}/actions/create_image`, { type: "backup", description: "nightly" });
  await watch(lab, "hetzner-cloud");
  return lab;
}

const everything = { "SSH key": 1, "floating IP": 1, "placement group": 1, "primary IP": 1, server: 1, snapshot: 1 };
const collections = ["servers", "ssh_keys", "primary_ips", "floating_ips", "placement_groups", "images"] as const;

describe("the inventory of a project at Hetzner Cloud", () => {
  test("has what is in it of one's own, and leaves it alone", async () => {
    const lab = await furnishedProject();
    assert.deepEqual(unmanaged(lab), everything, "a server's addresses and backups are the server's");
    const before = collections.map((collection) => lab.list(collection));
    await lab.bench.pass({ minutes: 200 });
    assert.deepEqual(unmanaged(lab), everything);
    assert.deepEqual(
      collections.map((collection) => lab.list(collection)),
      before,
    );
    assert.deepEqual(
      lab.world.log.after(0).filter(({ method, actor }) => method !== "GET" && actor === "api"),
      [],
    );
    await lab.bench.stop();
  });

  test("does not name what the installation itself left there", async () => {
    const lab = await furnishedProject();
    await lab.bench.declare(name, { account: "demo", family: "hetzner-cloud" }, { mode: "enforce" });
    await lab.bench.pass({ minutes: 70 });
    assert.equal(lab.list("ssh_keys").length, 2);
    assert.equal(unmanaged(lab)?.["SSH key"], 1);
    await lab.bench.stop();
  });

  for (const path of ["^/primary_ips$", "^/ssh_keys$", "^/images$"])
    test(`calls nothing gone because ${path} was listed by half`, async () => {
      const lab = await furnishedProject();
      lab.fault({ kind: "half-list", path, share: 0, total: "kept" });
      await lab.bench.pass({ minutes: 200 });
      assert.deepEqual(unmanaged(lab), everything);
      assert.equal(lab.bench.statuses(name)[0]?.failing, true, "and it does not say that it saw everything");
      lab.heal();
      await lab.bench.pass({ minutes: 30 });
      for (const { id } of lab.list<{ readonly id: number }>("ssh_keys")) lab.console("DELETE", `/ssh_keys/${id}`);
      await lab.bench.pass({ minutes: 75 });
      assert.equal(unmanaged(lab)?.["SSH key"], undefined, "what is gone is gone within the hour");
      await lab.bench.stop();
    });

  test("costs at most 5 calls of 25 for a thousand servers and pass beside the list of servers itself", async () => {
    const lab = await CloudLab.open({ pace: 0 });
    const cloud = lab.world.clouds.find(({ name: each }) => each === "hetzner-cloud") ?? assert.fail("no cloud");
    cloud.fill("demo", { servers: 1_000, prefix: "theirs", labels: {} });
    assert.equal(lab.list("primary_ips").length, 2_000, "two addresses each");
    await watch(lab, "hetzner-cloud");
    await lab.bench.pass({ minutes: 10 });
    const before = lab.lastRequest;
    await lab.bench.pass({ minutes: 360 });
    const beside = lab.world.log.after(before).filter(({ path }) => path !== "/servers");
    const perPass = beside.length / (360 / 5);
    assert.ok(beside.some(({ path }) => path === "/primary_ips"));
    assert.ok(perPass <= 5, `${perPass} calls a pass`);
    await lab.bench.stop();
  });
});

describe("the inventory of a contract at IONOS", () => {
  test("has its volumes, networks, reserved addresses and snapshots, and leaves them alone", async () => {
    const lab = await CloudLab.open({ cloud: "ionos", pace: 0 });
    const made = (path: string, properties: object) => {
      const { id } = lab.console("POST", path, { properties });
      return typeof id === "string" ? id : assert.fail(path);
    };
    const center = made("/datacenters", { name: "here", location: "de/fra" });
    await lab.bench.pass({ minutes: 2 });
    const volume = made(`/datacenters/${center}/volumes`, { name: "spare", size: 10, licenceType: "LINUX" });
    made(`/datacenters/${center}/lans`, { name: "inner", public: false });
    made("/ipblocks", { name: "kept", location: "de/fra", size: 1 });
    await lab.bench.pass({ minutes: 2 });
    lab.console("POST", `/datacenters/${center}/volumes/${volume}/create-snapshot`);
    await lab.bench.pass({ minutes: 2 });
    await watch(lab, "ionos");
    assert.deepEqual(unmanaged(lab), { "floating IP": 1, network: 1, snapshot: 1, volume: 1 });
    await lab.bench.pass({ minutes: 200 });
    assert.deepEqual(
      lab.world.log.after(0).filter(({ method, actor }) => method !== "GET" && actor === "api"),
      [],
    );
    await lab.bench.stop();
  });
});
