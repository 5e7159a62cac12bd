import { createHash } from "node:crypto";
import { untrusted } from "./answer-error.ts";
import { type Rfc2136Client, isEngineError } from "./client.ts";
import { answerCodes, classes, operations } from "./wire/numbers.ts";
import { readMessage, type WireMessage, type WireRecord } from "./wire/message.ts";
import { type SkimmedMessage, skimMessage } from "./wire/skim.ts";
import { WireError } from "./wire/wire-error.ts";
import { serialOf, ZoneImage } from "./zone-image.ts";

/**
 * A whole zone (RFC 5936), or undefined when the server says that it has no such zone. Where the very same bytes came as for the
 * image that is known, that one is handed out: nothing of them needs to be read again.
 */
export async function transferZone(
  client: Rfc2136Client,
  zone: string,
  signal: AbortSignal,
  known?: ZoneImage,
): Promise<ZoneImage | undefined> {
  const arrived = new ArrivedTransfer(zone);
  const question = { name: zone, type: "AXFR" };
  const what = `the transfer of zone ${zone}`;
  const accept = [answerCodes.notAuthoritative];
  const receive = (message: SkimmedMessage) => arrived.add(message);
  await client.askMany(
    { operation: operations.query, question, part: "read", what, accept },
    { read: skimMessage, receive },
    signal,
  );
  const digest = arrived.digest();
  if (known !== undefined && known.digest === digest) return known;
  const assembly = new Assembly(zone, undefined);
  try {
    for (const bytes of arrived.messages) assembly.add(readMessage(bytes));
    return assembly.result(digest);
  } catch (thrown) {
    throw thrown instanceof WireError ? untrusted(what, thrown.message) : thrown;
  }
}

/** What changed since the image was read (RFC 1995); the server may answer with the whole zone instead. */
export async function transferChanges(
  client: Rfc2136Client,
  zone: string,
  since: ZoneImage,
  signal: AbortSignal,
): Promise<ZoneImage | undefined> {
  const assembly = new Assembly(zone, since);
  const question = { name: zone, type: "IXFR" };
  const what = `the transfer of what changed in zone ${zone} since serial ${since.serial}`;
  const asked = { operation: operations.query, question, part: "read", what, second: [since.soa] } as const;
  try {
    const receive = (message: WireMessage) => assembly.add(message);
    const question = { ...asked, accept: [answerCodes.notAuthoritative] };
    await client.askMany(question, { read: readMessage, receive }, signal);
    return assembly.result(undefined);
  } catch (thrown) {
    // A server may refuse the shorter way, or its answer may not fit what we have; the whole zone then tells.
    const elsewhere = isEngineError(thrown, "PROVIDER_REFUSED") || isEngineError(thrown, "PROVIDER_UNAVAILABLE");
    if (!elsewhere) throw thrown;
    return await transferZone(client, zone, signal);
  }
}

/** The messages of a transfer as they came, until the SOA that opened it has come again. */
class ArrivedTransfer {
  readonly messages: Buffer[] = [];
  readonly #zone: string;
  readonly #hash = createHash("sha256");
  #soas = 0;

  constructor(zone: string) {
    this.#zone = zone;
  }

  /** Whether that was the last message. */
  add({ code, bytes, answers, soas, end }: SkimmedMessage): boolean {
    this.messages.push(bytes);
    // Without its id, and without what the signature adds: both differ each time.
    this.#hash.update(bytes.subarray(2, 10)).update(bytes.subarray(12, end));
    if (code === answerCodes.notAuthoritative) return true;
    if (answers === 0) throw new WireError("a message of the transfer holds nothing");
    this.#soas += soas.filter(({ name }) => name === this.#zone).length;
    if (this.messages.length === 1 && this.#soas === 0)
      throw new WireError("the transfer does not begin with the zone's SOA");
    return this.#soas > 1;
  }

  digest(): string {
    return this.#hash.digest("hex");
  }
}

type Mode = "start" | "second" | "whole" | "removing" | "adding" | "done" | "no-zone";

/**
 * Puts the messages of a transfer together. It is whole only when the SOA that opened it has closed it: whatever ends
 * earlier, or goes on behind that, is an error and never a shorter zone.
 */
class Assembly {
  readonly #zone: string;
  readonly #since: ZoneImage | undefined;
  #mode: Mode = "start";
  #image: ZoneImage | undefined;
  /** Of a transfer of changes: the serial that the records being added lead to. */
  #reached = 0;

  constructor(zone: string, since: ZoneImage | undefined) {
    this.#zone = zone;
    this.#since = since;
  }

  /** Whether that was the last message. */
  add(message: WireMessage): boolean {
    if (message.code === answerCodes.notAuthoritative) {
      if (this.#mode !== "start") throw new WireError("the server lost the zone half-way");
      this.#mode = "no-zone";
      return true;
    }
    if (message.answers.length === 0) throw new WireError("a message of the transfer holds nothing");
    for (const record of message.answers) this.#take(record);
    const unchanged =
      this.#since !== undefined && this.#mode === "second" && this.#openingSerial() === this.#since.serial;
    if (unchanged) {
      this.#image = this.#since;
      this.#mode = "done";
    }
    return this.#mode === "done";
  }

  result(digest: string | undefined): ZoneImage | undefined {
    if (this.#mode === "no-zone") return undefined;
    if (this.#mode !== "done" || this.#image === undefined)
      throw new WireError("the transfer ended before its closing SOA");
    this.#image.digest = digest ?? this.#image.digest;
    return this.#image;
  }

  #openingSerial(): number {
    return this.#image?.serial ?? 0;
  }

  #take(record: WireRecord): void {
    const isSoa = record.type === "SOA" && record.name === this.#zone && record.class === classes.internet;
    if (this.#mode === "done") throw new WireError("records follow the closing SOA");
    if (this.#mode === "start") {
      if (!isSoa) throw new WireError("the transfer does not begin with the zone's SOA");
      this.#image = new ZoneImage(record);
      this.#mode = "second";
      return;
    }
    if (this.#mode === "second") return this.#takeSecond(record, isSoa);
    if (isSoa) return this.#takeSoa(record);
    if (this.#mode === "removing") this.#image?.remove(record);
    else this.#image?.add(record);
  }

  /** The second record tells a transfer of changes from one of the whole zone. */
  #takeSecond(record: WireRecord, isSoa: boolean): void {
    const opening = this.#image?.soa;
    if (isSoa && opening !== undefined && this.#since !== undefined && serialOf(record) === this.#since.serial) {
      this.#image = this.#since.copy(opening);
      this.#mode = "removing";
      return;
    }
    this.#mode = "whole";
    if (isSoa) this.#takeSoa(record);
    else this.#image?.add(record);
  }

  #takeSoa(record: WireRecord): void {
    const serial = serialOf(record);
    const closes = serial === this.#openingSerial();
    if (this.#mode === "removing") {
      this.#mode = "adding";
      this.#reached = serial;
    } else if (this.#mode === "adding" && this.#reached !== this.#openingSerial()) {
      if (serial !== this.#reached) throw new WireError("a transfer of changes leaves out a step");
      this.#mode = "removing";
    } else if (closes) this.#mode = "done";
    else throw new WireError("the closing SOA is not the one that opened the transfer: the zone changed meanwhile");
  }
}
