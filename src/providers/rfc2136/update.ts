import { RetryableError, TerminalError, thrownMessage } from "../../kernel/errors.ts";
import type { DnsChange } from "../../ports/dns.ts";
import type { Rfc2136Client } from "./client.ts";
import { recordBytes, type WireRecord } from "./wire/message.ts";
import { classes, operations } from "./wire/numbers.ts";
import { WireError } from "./wire/wire-error.ts";

/** Room for header, zone and signature beside what changes. */
const mostBytes = 65_535 - 1_000;

interface Part {
  readonly conditions: readonly WireRecord[];
  readonly changes: readonly WireRecord[];
  readonly bytes: number;
}

/**
 * Changes as messages of RFC 2136. One message is carried out whole or not at all, and only if every record set in it is
 * still as it was seen. What does not fit into one is sent as several, each of them whole in itself.
 */
export async function updateZone(
  client: Rfc2136Client,
  zone: string,
  changes: readonly DnsChange[],
  signal: AbortSignal,
): Promise<void> {
  const parts = changes.map((change) => partOf(zone, change));
  const messages = packed(parts);
  for (const [index, message] of messages.entries()) {
    const count = message.length;
    const what = `the change of ${count} record set${count === 1 ? "" : "s"} in zone ${zone}`;
    // What is taken away comes first: a CNAME can only be added where nothing else is left.
    const second = [
      ...message.flatMap((part) => part.changes.filter(({ class: of }) => of !== classes.internet)),
      ...message.flatMap((part) => part.changes.filter(({ class: of }) => of === classes.internet)),
    ];
    const first = message.flatMap((part) => part.conditions);
    const question = { name: zone, type: "SOA" };
    await client
      .ask({ operation: operations.update, question, first, second, part: "write", what }, signal)
      .catch((thrown: unknown) => {
        if (index === 0) throw thrown;
        // Earlier messages were carried out: that the whole came to nothing would not be true.
        const message = thrownMessage(thrown);
        const code = thrown instanceof RetryableError ? thrown.code : "PROVIDER_UNAVAILABLE";
        throw new RetryableError(code, `${index} of ${messages.length} messages were carried out, then: ${message}`);
      });
  }
}

function packed(parts: readonly Part[]): readonly (readonly Part[])[] {
  const messages: Part[][] = [];
  let bytes = 0;
  for (const part of parts) {
    const last = messages.at(-1);
    if (last !== undefined && bytes + part.bytes <= mostBytes) {
      last.push(part);
      bytes += part.bytes;
    } else {
      messages.push([part]);
      bytes = part.bytes;
    }
  }
  return messages;
}

function partOf(zone: string, change: DnsChange): Part {
  const { name, type } = change.action === "delete" ? change : change.recordSet;
  refuseServersOwn(zone, name, type);
  const about = { name, type, ttlSeconds: 0 };
  const conditions = conditionsOf(about, change.seen);
  const removal: WireRecord = { ...about, class: classes.any, value: "" };
  const additions =
    change.action === "delete"
      ? []
      : change.recordSet.values.map((value) => ({
          ...about,
          class: classes.internet,
          ttlSeconds: change.recordSet.ttlSeconds,
          value,
        }));
  if (change.action === "replace" && additions.length === 0)
    throw new TerminalError("WILDCARD_REFUSED", `${name} ${type} in zone ${zone} would become an empty record set`);
  const changes = [removal, ...additions];
  try {
    const bytes = [...conditions, ...changes].reduce((sum, record) => sum + recordBytes(record).length, 0);
    return { conditions, changes, bytes };
  } catch (thrown) {
    if (!(thrown instanceof WireError)) throw thrown;
    throw new TerminalError("PROVIDER_REFUSED", `${name} ${type} in zone ${zone} cannot be written: ${thrown.message}`);
  }
}

/** The set must be exactly as it was seen (RFC 2136 2.4.2), or not be there at all (2.4.3). */
function conditionsOf(
  about: Pick<WireRecord, "name" | "type" | "ttlSeconds">,
  seen: DnsChange["seen"],
): readonly WireRecord[] {
  if (seen === undefined) return [];
  if (seen === "absent") return [{ ...about, class: classes.none, value: "" }];
  return seen.map((value) => ({ ...about, class: classes.internet, value }));
}

function refuseServersOwn(zone: string, name: string, type: string): void {
  if (name === "" || type === "" || type === "ANY")
    throw new TerminalError(
      "WILDCARD_REFUSED",
      `A change in zone ${zone} names nothing; an empty name would mean everything`,
    );
  if (type === "SOA" || (type === "NS" && name === zone))
    throw new TerminalError(
      "PROVIDER_REFUSED",
      `The ${type} of zone ${zone} itself belongs to the server and is never changed`,
    );
}
