// IONOS's own SDK against the world: the arguments are the base path and the token.
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import ionoscloud from "@ionos-cloud/sdk-nodejs";

const [basePath, token] = process.argv.slice(2);
const configuration = new ionoscloud.Configuration({ basePath, apiKey: token });
// It waits before every call, also the first: a second, unless told otherwise.
configuration.setMaxWaitTime(20);
const api = (name) => new ionoscloud[name](configuration);
const [
  centers,
  servers,
  lans,
  nics,
  rules,
  volumes,
  blocks,
  balancers,
  requests,
  contracts,
  labels,
  locations,
  images,
] = [
  "DataCentersApi",
  "ServersApi",
  "LANsApi",
  "NetworkInterfacesApi",
  "FirewallRulesApi",
  "VolumesApi",
  "IPBlocksApi",
  "NetworkLoadBalancersApi",
  "RequestsApi",
  "ContractResourcesApi",
  "LabelsApi",
  "LocationsApi",
  "ImagesApi",
].map(api);

/** The answer of a change, once the request behind it is done. */
async function done(change) {
  const { data, headers } = await change;
  const [, requestId] = /requests\/([^/]+)\/status/.exec(headers.location);
  for (;;) {
    const { data: status } = await requests.requestsStatusGet({ requestId });
    if (status.metadata.status === "DONE") return data;
    assert.notEqual(status.metadata.status, "FAILED", status.metadata.message);
    await wait(20);
  }
}

const { data: contract } = await contracts.contractsGet({ depth: 1 });
assert.ok(contract.items[0].properties.contractNumber > 0);
assert.ok((await locations.locationsGet({ depth: 1 })).data.items.some(({ id }) => id === "de/fra"));
assert.ok((await images.imagesGet({ depth: 1 })).data.items.length > 3);

const center = await done(centers.datacentersPost({ datacenter: { properties: { name: "sdk", location: "de/fra" } } }));
const datacenterId = center.id;
const lan = await done(
  lans.datacentersLansPost({ datacenterId, lan: { properties: { name: "outer", public: true } } }),
);
const server = await done(
  servers.datacentersServersPost({
    datacenterId,
    depth: 3,
    server: {
      properties: { name: "web-1", cores: 2, ram: 4096 },
      entities: {
        volumes: { items: [{ properties: { name: "boot", size: 10, type: "SSD", imageAlias: "debian:12" } }] },
        nics: { items: [{ properties: { lan: Number(lan.id), dhcp: true } }] },
      },
    },
  }),
);
const serverId = server.id;
const seen = async (depth = 2) => (await servers.datacentersServersFindById({ datacenterId, serverId, depth })).data;
assert.equal((await seen()).metadata.state, "AVAILABLE");
assert.equal((await seen()).entities.volumes.items[0].properties.name, "boot");

await done(servers.datacentersServersStopPost({ datacenterId, serverId }));
assert.equal((await seen()).properties.vmState, "SHUTOFF");
await done(servers.datacentersServersStartPost({ datacenterId, serverId }));
await done(servers.datacentersServersPatch({ datacenterId, serverId, server: { name: "web-2", cores: 4 } }));
assert.deepEqual([(await seen()).properties.name, (await seen()).properties.cores], ["web-2", 4]);

const nic = (await seen()).entities.nics.items[0];
const firewallrule = { properties: { protocol: "TCP", portRangeStart: 22, portRangeEnd: 22, name: "ssh" } };
const rule = await done(
  rules.datacentersServersNicsFirewallrulesPost({ datacenterId, serverId, nicId: nic.id, firewallrule }),
);
await done(nics.datacentersServersNicsPatch({ datacenterId, serverId, nicId: nic.id, nic: { firewallActive: true } }));
const listed = await rules.datacentersServersNicsFirewallrulesGet({ datacenterId, serverId, nicId: nic.id, depth: 1 });
assert.deepEqual(
  listed.data.items.map(({ properties }) => properties.portRangeStart),
  [22],
);
await done(
  rules.datacentersServersNicsFirewallrulesDelete({ datacenterId, serverId, nicId: nic.id, firewallruleId: rule.id }),
);

const volume = await done(
  volumes.datacentersVolumesPost({
    datacenterId,
    volume: { properties: { name: "data", size: 20, type: "HDD", licenceType: "OTHER" } },
  }),
);
await done(servers.datacentersServersVolumesPost({ datacenterId, serverId, volume: { id: volume.id } }));
assert.equal((await servers.datacentersServersVolumesGet({ datacenterId, serverId })).data.items.length, 2);
await done(servers.datacentersServersVolumesDelete({ datacenterId, serverId, volumeId: volume.id }));
await done(volumes.datacentersVolumesDelete({ datacenterId, volumeId: volume.id }));

await labels.datacentersServersLabelsPost({
  datacenterId,
  serverId,
  label: { properties: { key: "role", value: "web" } },
});
const { data: own } = await labels.datacentersServersLabelsGet({ datacenterId, serverId, depth: 1 });
assert.deepEqual(own.items[0].properties, { key: "role", value: "web" });

const inner = await done(lans.datacentersLansPost({ datacenterId, lan: { properties: { name: "inner" } } }));
const block = await done(
  blocks.ipblocksPost({ ipblock: { properties: { location: "de/fra", size: 2, name: "fixed" } } }),
);
const ipblockId = block.id;
const reserved = async () => (await blocks.ipblocksFindById({ ipblockId })).data.properties;
const { ips } = await reserved();
assert.equal(ips.length, 2);
const wanted = { name: "front", listenerLan: Number(lan.id), targetLan: Number(inner.id), ips: [ips[0]] };
const balancer = await done(
  balancers.datacentersNetworkloadbalancersPost({ datacenterId, networkLoadBalancer: { properties: wanted } }),
);
const networkLoadBalancerId = balancer.id;
const at = { datacenterId, networkLoadBalancerId };
assert.deepEqual(
  (await reserved()).ipConsumers.map(({ ip }) => ip),
  [ips[0]],
);
const refused = ({ response }) => response.status === 422;
const again = { properties: { ...wanted, name: "second" } };
await assert.rejects(
  balancers.datacentersNetworkloadbalancersPost({ datacenterId, networkLoadBalancer: again }),
  refused,
  "an address is used once",
);
await assert.rejects(blocks.ipblocksDelete({ ipblockId }), refused, "a block in use stays");
const forwarding = {
  name: "http",
  algorithm: "ROUND_ROBIN",
  protocol: "TCP",
  listenerIp: ips[0],
  listenerPort: 80,
  healthCheck: { connectTimeout: 5000, retries: 3 },
  targets: [{ ip: "10.7.1.10", port: 8080, weight: 1, healthCheck: { check: true, checkInterval: 2000 } }],
};
const forwards = await done(
  balancers.datacentersNetworkloadbalancersForwardingrulesPost({
    ...at,
    networkLoadBalancerForwardingRule: { properties: forwarding },
  }),
);
await assert.rejects(
  balancers.datacentersNetworkloadbalancersForwardingrulesPost({
    ...at,
    networkLoadBalancerForwardingRule: { properties: forwarding },
  }),
  refused,
  "a port is listened to once",
);
await done(
  balancers.datacentersNetworkloadbalancersForwardingrulesPut({
    ...at,
    forwardingRuleId: forwards.id,
    networkLoadBalancerForwardingRule: { properties: { ...forwarding, algorithm: "LEAST_CONNECTION", targets: [] } },
  }),
);
await done(
  balancers.datacentersNetworkloadbalancersPatch({
    ...at,
    networkLoadBalancerProperties: { ...wanted, name: "edge" },
  }),
);
const { data: shown } = await balancers.datacentersNetworkloadbalancersFindByNetworkLoadBalancerId({ ...at, depth: 2 });
assert.equal(shown.properties.name, "edge");
assert.deepEqual(
  shown.entities.forwardingrules.items.map(({ properties }) => [properties.algorithm, properties.targets]),
  [["LEAST_CONNECTION", []]],
);
const { data: every } = await balancers.datacentersNetworkloadbalancersGet({ datacenterId, depth: 1 });
assert.deepEqual(
  every.items.map(({ id }) => id),
  [networkLoadBalancerId],
);
await done(balancers.datacentersNetworkloadbalancersForwardingrulesDelete({ ...at, forwardingRuleId: forwards.id }));
await done(balancers.datacentersNetworkloadbalancersDelete(at));
assert.deepEqual((await reserved()).ipConsumers, []);
await done(blocks.ipblocksDelete({ ipblockId }));

await done(servers.datacentersServersDelete({ datacenterId, serverId, deleteVolumes: true }));
assert.equal((await servers.datacentersServersGet({ datacenterId })).data.items.length, 0);
await assert.rejects(
  servers.datacentersServersFindById({ datacenterId, serverId }),
  ({ response }) => response.status === 404,
);
await done(centers.datacentersDelete({ datacenterId }));
assert.equal((await centers.datacentersGet()).data.items.length, 0);
console.log("done");
