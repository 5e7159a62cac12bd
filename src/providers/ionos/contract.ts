import { z } from "zod";
import { TerminalError } from "../../kernel/errors.ts";
import type { CloudRoom } from "../../ports/compute.ts";
import type { AccountIdentity } from "../../ports/provider.ts";
import type { AccountRecord } from "../../ports/records.ts";
import type { IonosClient } from "./client.ts";

const contractsShape = z.object({
  items: z
    .array(
      z.object({
        properties: z.object({
          contractNumber: z.int(),
          resourceLimits: z.object({
            coresPerServer: z.int(),
            coresPerContract: z.int().nullish(),
            coresProvisioned: z.int().nullish(),
            ramPerServer: z.int(),
            ramPerContract: z.int().nullish(),
            ramProvisioned: z.int().nullish(),
          }),
        }),
      }),
    )
    .length(1),
});

export async function contractOf(client: IonosClient, as: "read" | "write", signal: AbortSignal) {
  const call = { path: ["contracts"], query: { depth: "1" }, as, what: "the read of the contract" };
  const { items } = await client.get(contractsShape, call, signal);
  const [first] = items;
  if (first === undefined) throw new TerminalError("CREDENTIAL_REFUSED", "The token belongs to no contract");
  return first.properties;
}

/** Both tokens must be of the same contract. */
export async function identityOf(
  client: IonosClient,
  account: AccountRecord,
  signal: AbortSignal,
): Promise<AccountIdentity> {
  const { contractNumber } = await contractOf(client, "read", signal);
  if (account.readCredentialRef !== undefined) {
    const other = await contractOf(client, "write", signal);
    if (other.contractNumber !== contractNumber)
      return { fingerprint: "ionos: the two tokens are of different contracts" };
  }
  return { fingerprint: fingerprintOf(contractNumber) };
}

/** What all servers of the contract may have together. Memory is counted in megabytes there; half a word is none. */
export async function readRoom(client: IonosClient, signal: AbortSignal): Promise<CloudRoom | undefined> {
  const { contractNumber, resourceLimits } = await contractOf(client, "read", signal);
  const { coresPerServer, coresPerContract, coresProvisioned, ramPerServer, ramPerContract, ramProvisioned } =
    resourceLimits;
  if (!isKnown(coresPerContract) || !isKnown(coresProvisioned)) return undefined;
  if (!isKnown(ramPerContract) || !isKnown(ramProvisioned)) return undefined;
  const gigabytes = (megabytes: number) => Math.floor(megabytes / 1_024);
  return {
    account: fingerprintOf(contractNumber),
    cores: { most: coresPerContract, used: coresProvisioned, mostOfOne: coresPerServer },
    memoryGigabytes: {
      most: gigabytes(ramPerContract),
      used: gigabytes(ramProvisioned),
      mostOfOne: gigabytes(ramPerServer),
    },
  };
}

function fingerprintOf(contractNumber: number): string {
  return `ionos: contract ${contractNumber}`;
}

function isKnown(limit: number | null | undefined): limit is number {
  return limit !== null && limit !== undefined;
}
