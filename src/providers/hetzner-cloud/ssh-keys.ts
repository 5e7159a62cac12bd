import { z } from "zod";
import { digestOf } from "../../kernel/hash.ts";
import type { AccountIdentity } from "../../ports/provider.ts";
import type { HetznerClient } from "./client.ts";
import { labelsShape, markOf, ownPrefix, otherLabels } from "./labels.ts";
import { type Family, matching } from "./listing.ts";

type Sentinel = NonNullable<AccountIdentity["sentinel"]>;

const keyShape = z.object({ id: z.int(), name: z.string(), public_key: z.string(), labels: labelsShape });

export const sshKeys = {
  collection: "ssh_keys",
  one: "SSH key",
  key: "ssh_key",
  shape: keyShape,
  sorted: true,
  entry: (raw) => ({
    id: String(raw.id),
    name: raw.name,
    labels: otherLabels(raw.labels),
    mark: sentinelOf(raw.labels) === undefined ? markOf(raw.labels) : ("none" as const),
    type: "SSH key",
    sentinel: sentinelOf(raw.labels),
  }),
} satisfies Family<z.output<typeof keyShape>, unknown>;

const sentinelLabel = `${ownPrefix}sentinel`;
const incarnationLabel = `${ownPrefix}incarnation`;

function sentinelOf(labels: z.output<typeof labelsShape>): Sentinel | undefined {
  const installationId = labels[sentinelLabel];
  const incarnation = Number(labels[incarnationLabel]);
  if (installationId === undefined || installationId === "" || !Number.isSafeInteger(incarnation)) return undefined;
  return { installationId, incarnation };
}

export interface FoundSentinel {
  readonly id: string;
  readonly sentinel: Sentinel;
}

/**
 * The sentinel is an SSH key that nobody has the private half of, named after the installation: the only thing without a price
 * that a project can hold. Its id is the same for as long as it lives and is in no other project, so it is the fingerprint too.
 * The oldest one counts: a second claimant finds the first.
 */
export async function findSentinel(
  client: HetznerClient,
  as: "read" | "write",
  signal: AbortSignal,
): Promise<FoundSentinel | undefined> {
  const filter = { as, query: { label_selector: sentinelLabel }, what: "the read of the project's claim" };
  const found = await matching(client, sshKeys, filter, signal);
  const claims = found.flatMap(({ id, sentinel }) => (sentinel === undefined ? [] : [{ id, sentinel }]));
  return claims.sort((left, right) => Number(left.id) - Number(right.id))[0];
}

/** A claim that is ours already keeps its key, and with it the fingerprint: only its incarnation is written anew. */
export async function writeSentinel(
  client: HetznerClient,
  sentinel: Sentinel,
  accountId: string,
  signal: AbortSignal,
): Promise<void> {
  const known = await findSentinel(client, "write", signal);
  const labels = { [sentinelLabel]: sentinel.installationId, [incarnationLabel]: String(sentinel.incarnation) };
  const what = "the claim of the project";
  if (known?.sentinel.installationId === sentinel.installationId) {
    await client.change({ method: "PUT", path: ["ssh_keys", known.id], body: { labels }, what }, signal);
    return;
  }
  const name = `setpoint-sentinel-${sentinel.installationId}`;
  const body = { name, public_key: publicKeyFrom(sentinel.installationId, accountId), labels };
  // Asked for twice, because the first answer got lost: the key is there, and its labels are the same.
  await client.change({ method: "POST", path: ["ssh_keys"], body, what }, signal, ["uniqueness_error"]);
}

/** 32 bytes that are nobody's private key's public half, in the form of an Ed25519 key. */
function publicKeyFrom(installationId: string, accountId: string): string {
  const type = Buffer.from("ssh-ed25519");
  const point = Buffer.from(
    digestOf(["sentinel", installationId, accountId]) + digestOf([accountId, installationId, "sentinel"]),
    "hex",
  );
  const parts = [type, point].flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return [length, part];
  });
  return `ssh-ed25519 ${Buffer.concat(parts).toString("base64")} setpoint-sentinel`;
}
