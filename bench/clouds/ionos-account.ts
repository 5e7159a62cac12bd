import type { JsonObject } from "../../src/ports/json.ts";
import { newId } from "../../src/world/ionos/call.ts";
import type { Contract } from "../../src/world/ionos/contract.ts";
import { Ionos } from "../../src/world/ionos/ionos.ts";
import { type Element, textOf } from "../../src/world/ionos/rows.ts";
import { IonosLab } from "../../test/support/ionos-lab.ts";
import type { BenchAccount } from "./account.ts";

export async function ionosAccount(): Promise<BenchAccount> {
  const lab = await IonosLab.open({ pace: 0 });
  const cloud = lab.world.clouds.find((each) => each instanceof Ionos);
  if (cloud === undefined) throw new Error("There is no IONOS in this world");
  cloud.configure("demo", { requestsPerMinute: 100_000_000, requestsAtOnce: 1_000_000 });
  const contract = cloud.book.get("demo");
  const copyServer = serverCopier(contract, () => newId({ random: lab.world.core.random }));
  const web = { labels: { role: "web" }, networks: [{ name: "backend" }] };
  return {
    lab,
    makeHost: (name, isWeb) => lab.host(name, isWeb ? web : {}),
    declareHost: (name) => lab.redeclare(name, {}),
    copyServer: (model, host) => {
      const copied = copyServer(model, host);
      return `${copied.datacenter ?? ""}:${copied.id}`;
    },
    declareNetwork: () => lab.bench.declare("CloudNetwork/backend", { account: "demo", location: "main" }),
    declareBalancer: () =>
      lab.bench.declare("LoadBalancer/edge", {
        account: "demo",
        type: "nlb",
        location: "main",
        network: { name: "backend" },
        services: [{ protocol: "tcp", listenPort: 443, targetPort: 443 }],
        targets: [{ labels: { role: "web" }, private: true }],
      }),
  };
}

/** Copies a server with its card, the rules on it and its disk. By the API each one would be counted against all others. */
function serverCopier({ elements }: Contract, nextId: () => string) {
  let known: { readonly model: string; readonly server: Element; readonly uid: string } | undefined;
  const find = (model: string) => {
    const named = new RegExp(`^${model} setpoint:[^:]+:(.+)$`);
    const uidOf = ({ properties }: Element) => named.exec(textOf(properties, "name"))?.[1];
    const server = elements.where("type", "server").find((each) => uidOf(each) !== undefined);
    if (server === undefined) throw new Error(`There is no server of ${model}`);
    return { model, server, uid: uidOf(server) ?? "" };
  };
  return (model: string, host: { readonly name: string; readonly uid: string }): Element => {
    known = known?.model === model ? known : find(model);
    const { server: first, uid } = known;
    const copy = (element: Element, within: Partial<Element>): Element => {
      const id = nextId();
      const text = JSON.stringify(element.properties)
        .replaceAll(uid, host.uid)
        .replaceAll(`"${model} `, `"${host.name} `);
      return elements.put({ ...element, id, shownId: id, properties: JSON.parse(text) as JsonObject, ...within });
    };
    const server = copy(first, {});
    for (const volume of elements.where("attachedTo", first.id)) copy(volume, { attachedTo: server.id });
    for (const card of elements.where("inside", `${first.id} nic`)) {
      const copied = copy(card, { parent: server.id });
      for (const rule of elements.where("inside", `${card.id} firewall-rule`)) copy(rule, { parent: copied.id });
    }
    return server;
  };
}
