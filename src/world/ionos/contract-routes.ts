import { consumersOf } from "./balancing.ts";
import { type IonosRoute, ok } from "./call.ts";
import type { Contract } from "./contract.ts";
import { type ElementType, numberOf, textOf } from "./rows.ts";

function sum({ elements }: Contract, type: ElementType, field: string): number {
  return elements.where("type", type).reduce((total, { properties }) => total + numberOf(properties, field), 0);
}

function limitsBody(contract: Contract): unknown {
  const { limits, elements } = contract;
  const disks = (isSsd: boolean) =>
    elements
      .where("type", "volume")
      .filter(({ properties }) => textOf(properties, "type").startsWith("SSD") === isSsd)
      .reduce((total, { properties }) => total + numberOf(properties, "size"), 0) * 1_024;
  return {
    coresPerServer: limits.coresPerServer,
    coresPerContract: limits.coresPerContract,
    coresProvisioned: sum(contract, "server", "cores"),
    ramPerServer: limits.ramPerServer,
    ramPerContract: limits.ramPerContract,
    ramProvisioned: sum(contract, "server", "ram"),
    hddLimitPerVolume: 4_194_304,
    hddLimitPerContract: 419_430_400,
    hddVolumeProvisioned: disks(false),
    ssdLimitPerVolume: 4_194_304,
    ssdLimitPerContract: 419_430_400,
    ssdVolumeProvisioned: disks(true),
    dasVolumeProvisioned: 0,
    reservableIps: limits.reservableIps,
    reservedIpsOnContract: sum(contract, "ipblock", "size"),
    reservedIpsInUse: elements.where("type", "ipblock").flatMap((block) => consumersOf(contract, block)).length,
    k8sClusterLimitTotal: 0,
    k8sClustersProvisioned: 0,
    nlbLimitTotal: limits.nlbLimitTotal,
    nlbProvisioned: elements.where("type", "networkloadbalancer").length,
    natGatewayLimitTotal: 0,
    natGatewayProvisioned: 0,
  };
}

/** The contract's number is what tells one account from another. */
export const contractRoutes: readonly IonosRoute[] = [
  {
    method: "GET",
    path: "/contracts",
    answer: ({ contract, base }) =>
      ok({
        id: "contracts",
        type: "collection",
        href: `${base}/contracts`,
        items: [
          {
            type: "contract",
            properties: {
              contractNumber: contract.number,
              owner: `${contract.name}@example.test`,
              status: "BILLABLE",
              regDomain: "example.test",
              resourceLimits: limitsBody(contract),
            },
          },
        ],
      }),
  },
];
