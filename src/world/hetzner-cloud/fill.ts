import type { Fill } from "../cloud.ts";
import type { Call } from "./call.ts";
import { systemImages } from "./catalogue/images.ts";
import { datacenterIn } from "./catalogue/locations.ts";
import { serverTypeNamed } from "./catalogue/server-types.ts";
import { newPrimaryIp } from "./public-addresses.ts";

/** Running servers that have been there for a while, spread over Europe. */
export function fillProject(call: Call, { servers, prefix, labels }: Fill): number {
  const type = serverTypeNamed("cx23");
  const image = systemImages.find(
    ({ name, architecture }) => name === "debian-13" && architecture === type.architecture,
  );
  for (let number = 1; number <= servers; number += 1) {
    const id = call.nextId();
    const name = `${prefix}-${id}`;
    const datacenter = datacenterIn(type.locations[number % type.locations.length]?.name ?? "fsn1").name;
    const server = call.project.servers.put({
      id,
      name,
      labels,
      createdMs: call.nowMs,
      status: "running",
      serverType: type.name,
      diskGb: type.disk,
      image: image?.id,
      datacenter,
      iso: undefined,
      rescue: false,
      backupWindow: undefined,
      placementGroup: undefined,
      privateNets: [],
      protection: { delete: false, rebuild: false },
      userData: undefined,
      sshKeys: [],
    });
    const own = { datacenter, server: server.id, autoDelete: true, labels: {} };
    newPrimaryIp(call, { ...own, type: "ipv4", name: `${name}-ipv4` });
    newPrimaryIp(call, { ...own, type: "ipv6", name: `${name}-ipv6` });
  }
  return servers;
}
