import type { DnsAnswer, DnsQueries, DnsQuestion, HostAddresses } from "../../ports/dns-queries.ts";
import type { DnsTransport } from "../../ports/dns-transport.ts";
import type { Random } from "../../ports/random.ts";
import { messageBytes, readMessage, type WireMessage } from "../rfc2136/wire/message.ts";
import { answerCodes, operations } from "../rfc2136/wire/numbers.ts";
import { WireError } from "../rfc2136/wire/wire-error.ts";

/** A server that takes longer counts as silent: whoever asks has others to ask. */
const timeoutMs = 2_000;

/** Unsigned questions over TCP (RFC 7766), so that no answer is cut short. */
export function createDnsQueries(world: {
  readonly transport: DnsTransport;
  readonly addresses: HostAddresses;
  readonly random: Random;
}): DnsQueries {
  return Object.freeze({
    ask: (question: DnsQuestion, signal: AbortSignal) => ask(world, question, signal),
    addresses: world.addresses,
  });
}

async function ask(
  { transport, random }: { readonly transport: DnsTransport; readonly random: Random },
  { server, name, type, recursive }: DnsQuestion,
  signal: AbortSignal,
): Promise<DnsAnswer> {
  const id = Math.floor(random.next() * 65_536);
  const message = messageBytes({ id, operation: operations.query, question: { name, type }, recursive });
  let answer: WireMessage | undefined;
  const receive = (bytes: Uint8Array) => {
    answer = readMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return true;
  };
  try {
    const outcome = await transport.stream({ ...hostAndPort(server), message, timeoutMs, signal, receive });
    if (!outcome.answered) return { answered: false, message: outcome.message };
  } catch (thrown) {
    if (thrown instanceof WireError) return { answered: false, message: `it cannot be read: ${thrown.message}` };
    throw thrown;
  }
  if (answer === undefined || !answer.isAnswer || answer.id !== id)
    return { answered: false, message: "it answered another question" };
  return understood(answer, name, type);
}

function understood(answer: WireMessage, name: string, type: string): DnsAnswer {
  const { code, authoritative, answers } = answer;
  if (code !== answerCodes.noError && code !== answerCodes.noSuchName)
    return { answered: false, message: `it answered with the code ${code}${codeWords[code] ?? ""}` };
  const own = answers.filter((record) => record.name === name && record.type === type);
  return { answered: true, authoritative, values: own.map(({ value }) => value) };
}

const codeWords: Readonly<Record<number, string>> = { 2: " (SERVFAIL)", 5: " (REFUSED)", 9: " (NOTAUTH)" };

/** `[address]:port`, `address:port` or either part of it alone; a plain IPv6 address has more than one colon. */
export function hostAndPort(text: string): { readonly server: string; readonly port: number } {
  const [, bracketed, behind] = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text) ?? [];
  if (bracketed !== undefined) return { server: bracketed, port: Number(behind ?? 53) };
  const [, host = text, port] = /^([^:]+):(\d{1,5})$/.exec(text) ?? [];
  return { server: host, port: Number(port ?? 53) };
}
