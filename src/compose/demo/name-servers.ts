import { createServer, type Server, type Socket } from "node:net";
import { Cursor } from "../../providers/rfc2136/wire/cursor.ts";
import { messageBytes } from "../../providers/rfc2136/wire/message.ts";
import { answerCodes, classes, operations, typeName } from "../../providers/rfc2136/wire/numbers.ts";
import { sixteenBits } from "../../providers/rfc2136/wire/service-parameters.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PowerDnsState } from "../../world/powerdns/simulated-powerdns.ts";
import { listenAddress } from "../port-error.ts";

/** How often the second server copies the zones of the first: long enough to see that it is behind. */
const copyEveryMs = 45_000;
const isAnswer = 0x80;
const isAuthoritative = 0x04;
const longestQuestion = 512;
const highestPort = 65_535;

type Zones = PowerDnsState["zones"];

/**
 * Two name servers that answer real queries about the zones of the demo: the first as they are, the second as they were when it copied
 * them last. Answers where they listen; where a port is taken there are none, and the demo does without.
 */
export async function startNameServers(request: {
  readonly zones: () => Zones;
  /** Of the first; the second has the next. */
  readonly port: number;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}): Promise<readonly string[]> {
  const { zones, port, clock, stopping } = request;
  if (port >= highestPort) return [];
  let copied = zones();
  const servers = [answering(zones), answering(() => copied)];
  const listening = await Promise.all(servers.map((server, index) => listens(server, port + index)));
  const close = () => servers.forEach((server) => server.close());
  if (listening.includes(false)) {
    close();
    return [];
  }
  stopping.addEventListener("abort", close, { once: true });
  void (async () => {
    while (!stopping.aborted) {
      await clock.wait(copyEveryMs, stopping);
      copied = zones();
    }
  })().catch(() => undefined);
  return servers.map((_, index) => `${listenAddress}:${port + index}`);
}

function listens(server: Server, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once("error", () => resolve(false));
  server.listen(port, listenAddress, () => resolve(true));
  return promise;
}

/** Queries over TCP, with two bytes of length before each (RFC 7766). */
function answering(zones: () => Zones): Server {
  return createServer((socket: Socket) => {
    let received: Buffer = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, Buffer.from(chunk)]);
      const length = received.length < 2 ? 0 : received.readUInt16BE(0);
      const isWhole = length > 0 && received.length >= length + 2;
      const answer = isWhole ? answerTo(received.subarray(2, length + 2), zones()) : undefined;
      if (answer !== undefined) socket.end(Buffer.concat([sixteenBits(answer.length), answer]));
      // Whoever asks no question that these servers know is not answered.
      else if (isWhole || length > longestQuestion) socket.destroy();
    });
  });
}

/** What the zones say of one name and type; of a name that they do not have, that there is none. */
export function answerTo(question: Buffer, zones: Zones): Buffer | undefined {
  const asked = readQuestion(question);
  if (asked === undefined) return undefined;
  const { id, name, type } = asked;
  const sets = zones.filter((zone) => isWithin(name, zone.name)).flatMap(({ rrsets }) => rrsets);
  const known = sets.filter((set) => set.name === name);
  const found = known.filter((set) => set.type === type);
  const first = found.flatMap(({ ttl, records }) =>
    records.map(({ content }) => ({ name, type, class: classes.internet, ttlSeconds: ttl, value: content })),
  );
  const bytes = messageBytes({ id, operation: operations.query, question: { name, type }, first });
  bytes.writeUInt8(bytes.readUInt8(2) | isAnswer | isAuthoritative, 2);
  bytes.writeUInt8(known.length === 0 ? answerCodes.noSuchName : answerCodes.noError, 3);
  return bytes;
}

function readQuestion(
  bytes: Buffer,
): { readonly id: number; readonly name: string; readonly type: string } | undefined {
  try {
    const cursor = new Cursor(bytes);
    const [id, flags, questions] = [cursor.number(2), cursor.number(2), cursor.number(2)];
    cursor.take(6);
    if ((flags & 0xf800) !== 0 || questions !== 1) return undefined;
    return { id, name: cursor.name(), type: typeName(cursor.number(2)) };
  } catch {
    return undefined;
  }
}

function isWithin(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}
