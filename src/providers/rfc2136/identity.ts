import { digestOf } from "../../kernel/hash.ts";
import type { AccountIdentity } from "../../ports/provider.ts";
import type { Rfc2136Client } from "./client.ts";
import type { Rfc2136Settings } from "./settings.ts";
import { updateZone } from "./update.ts";
import { answerCodes, operations } from "./wire/numbers.ts";

type Sentinel = NonNullable<AccountIdentity["sentinel"]>;

/**
 * A name server has no id. Every answer is signed, so whoever answers has our key: address and key are all the identity
 * there is, and the signature is its proof.
 */
export function fingerprintOf({ server, port, keyName, algorithm }: Rfc2136Settings): string {
  return `rfc2136:${digestOf([server.toLowerCase(), port, keyName.toLowerCase().replace(/\.$/, ""), algorithm])}`;
}

const sentinelText = /^"heritage=setpoint,setpoint\/installation=([a-z0-9-]{1,63}),setpoint\/incarnation=(\d{1,9})"$/;

export async function readSentinel(
  client: Rfc2136Client,
  zone: string,
  signal: AbortSignal,
): Promise<Sentinel | undefined> {
  const question = { name: sentinelName(zone), type: "TXT" };
  const what = `the question for the mark ${question.name}`;
  const accept = [answerCodes.noSuchName];
  const answer = await client.ask({ operation: operations.query, question, part: "read", what, accept }, signal);
  const found = answer.answers.flatMap(({ name, type, value }) => {
    const match = name === question.name && type === "TXT" ? sentinelText.exec(value) : null;
    return match === null ? [] : [{ installationId: match[1] ?? "", incarnation: Number(match[2]) }];
  });
  return found.sort((left, right) => left.incarnation - right.incarnation).at(-1);
}

export async function writeSentinel(
  client: Rfc2136Client,
  zone: string,
  { installationId, incarnation }: Sentinel,
  signal: AbortSignal,
): Promise<void> {
  const value = `"heritage=setpoint,setpoint/installation=${installationId.toLowerCase()},setpoint/incarnation=${incarnation}"`;
  const recordSet = { name: sentinelName(zone), type: "TXT", ttlSeconds: 300, values: [value] };
  await updateZone(client, zone, [{ action: "replace", recordSet }], signal);
}

function sentinelName(zone: string): string {
  return `_setpoint-sentinel.${zone}`;
}
