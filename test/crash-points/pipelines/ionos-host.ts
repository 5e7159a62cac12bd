import type { Kind } from "../../../src/kernel/kind.ts";
import type { Provider } from "../../../src/ports/provider.ts";
import type { Point } from "../../support/box-kind.ts";
import { labAccount, type OperationLab } from "../../support/operation-lab.ts";
import type { OperationScenario, OperationStage } from "../operations.ts";
import type { PointCall } from "../scenario.ts";
import { IonosOutside } from "../scenarios/ionos.ts";

/** A contract of IONOS in a world, reached by the production client, and looked at after every write. */
export class Contract implements OperationStage {
  readonly #orders: string[] = [];
  #nowMs = 1_800_000_000_000;
  readonly outside = new IonosOutside(() => this.#nowMs);
  /** Whether the card of a server was open at any moment. */
  wasOpen = false;

  get effects(): readonly string[] {
    return [...this.#orders, ...(this.wasOpen ? ["a card was open"] : [])];
  }

  canonical() {
    return this.outside.canonical();
  }

  kinds(point: Point): readonly Kind[] {
    return [...this.outside.connect(this.#through(point)).kinds.values()];
  }

  providers(point: Point): readonly Provider[] {
    const connect = () => [...this.outside.connect(this.#through(point)).providers.values()];
    const open: Provider["open"] = (account) => {
      const [fresh] = connect();
      if (fresh === undefined) throw new Error("There is one provider");
      return fresh.open(account);
    };
    return connect().map((provider) => ({ ...provider, settleMs: 0, open }));
  }

  #through(point: Point): PointCall {
    return (label, handle) =>
      point(label, () => {
        // Time passes with the requests, or the contract would soon have had its number of them.
        this.#nowMs += 1_000;
        const answer = handle(false);
        if (label === "POST datacenters/N/servers") this.#orders.push(label);
        // Nothing changes there between two writes.
        if (!label.startsWith("GET")) this.wasOpen ||= this.outside.isOpen;
        return answer;
      });
  }
}

/** The contract of the run that is under way: scenarios are played one after the other. */
let contract = new Contract();
export function newContract(): Contract {
  contract = new Contract();
  return contract;
}

async function declared(lab: OperationLab): Promise<void> {
  const rules = [{ protocol: "icmp", cidrs: ["0.0.0.0/0"] }];
  const accounts = [labAccount];
  await lab.declareAs("Firewall", "web", { account: labAccount, applies: "scope", rules }, { accounts });
  const type = "2-cores-4-gb-20-gb-ssd";
  const made = { type, image: "debian:12", location: "main", publicAddresses: { ipv4: true, ipv6: false } };
  await lab.declareAs("Host", "web-1", { account: labAccount, ...made }, { accounts });
}

const start = async (lab: OperationLab) => (await lab.start("host.create", "web-1")).id;

/** The loop of the firewall comes by. */
export const guardedHost: OperationScenario = {
  name: "host.create, under the firewall of its scope at IONOS",
  stage: newContract,
  prepare: declared,
  start,
  meanwhile: async () => contract.outside.guard("uid-of-web"),
  ends: "succeeded",
};

export const ionosHostScenarios: readonly OperationScenario[] = [
  guardedHost,
  {
    name: "host.create, under a firewall at IONOS that goes before it looks",
    stage: newContract,
    prepare: declared,
    start,
    meanwhile: (lab) => lab.remove("web", 0),
    ends: "succeeded",
  },
];
