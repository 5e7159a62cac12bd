import { scopeLabels } from "../../src/kinds/cloud/layers.ts";
import { CloudLab, organizationId } from "../../test/support/cloud-lab.ts";
import type { BenchAccount } from "./account.ts";

const order = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" };

export async function hetznerAccount(): Promise<BenchAccount> {
  const lab = await CloudLab.open({ pace: 0 });
  lab.world.clouds
    .find(({ name }) => name === "hetzner-cloud")
    ?.configure("demo", { requestsPerHour: 1_000_000_000, limits: { servers: 1_000_000 } });
  const web = { labels: { role: "web" }, networks: [{ name: "backend" }] };
  return {
    lab,
    makeHost: async (name, isWeb) => {
      await lab.bench.declare(`Host/${name}`, { ...order, ...(isWeb ? web : {}) });
      await lab.finish(await lab.start("host.create", `Host/${name}`));
    },
    declareHost: (name) => lab.bench.declare(`Host/${name}`, order),
    copyServer: (_model, { name, uid }) => {
      const around = scopeLabels({ scope: `organization/${organizationId}`, organizationId });
      const labels = { ...around, "setpoint-installation": "installation-1", "setpoint-resource": uid };
      const { type: server_type, image, location } = order;
      const { server } = lab.console("POST", "/servers", { server_type, image, location, name, labels });
      return String((server as { readonly id: number }).id);
    },
    declareNetwork: () => {
      const subnets = [{ range: "10.0.1.0/24", zone: "eu-central" }];
      return lab.bench.declare("CloudNetwork/backend", { account: "demo", range: "10.0.0.0/16", subnets });
    },
    declareBalancer: () =>
      lab.bench.declare("LoadBalancer/edge", {
        account: "demo",
        type: "lb11",
        location: "fsn1",
        network: { name: "backend" },
        services: [{ protocol: "tcp", listenPort: 443, targetPort: 443 }],
        targets: [{ labels: { role: "web" }, private: true }],
      }),
  };
}
