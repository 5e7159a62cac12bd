import { accountCredential } from "../../kernel/account-credential.ts";
import { EngineError, TerminalError } from "../../kernel/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Credentials } from "../../ports/credentials.ts";
import type { DnsQueries } from "../../ports/dns-queries.ts";
import type { DnsTransport } from "../../ports/dns-transport.ts";
import type { Random } from "../../ports/random.ts";
import type { AccountRecord } from "../../ports/records.ts";
import { codeError, silenceError, untrusted } from "./answer-error.ts";
import type { Rfc2136Settings } from "./settings.ts";
import { AnswerCheck, signMessage, type TsigKey } from "./tsig.ts";
import { type MessageHead, type MessageParts, messageBytes, readMessage, type WireMessage } from "./wire/message.ts";
import { answerCodes } from "./wire/numbers.ts";
import { WireError } from "./wire/wire-error.ts";

export interface Rfc2136World {
  readonly transport: DnsTransport;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: Random;
  readonly queries?: DnsQueries | undefined;
}

export interface Question extends Omit<MessageParts, "id"> {
  /** What the call is, for messages. */
  readonly what: string;
  readonly part: "read" | "write";
  /** Answer codes that the caller understands; every other one is an error. */
  readonly accept?: readonly number[];
}

/** Signed messages to one name server. An answer that is not signed by the same key is as good as none. */
export class Rfc2136Client {
  readonly #world: Rfc2136World;
  readonly #account: AccountRecord;
  readonly #settings: Rfc2136Settings;
  readonly #timeoutMs: number;

  constructor(world: Rfc2136World, account: AccountRecord, settings: Rfc2136Settings, timeoutMs: number) {
    this.#world = world;
    this.#account = account;
    this.#settings = settings;
    this.#timeoutMs = timeoutMs;
  }

  /** One question, one message as its answer. */
  async ask(question: Question, signal: AbortSignal): Promise<WireMessage> {
    let answer: WireMessage | undefined;
    const receive = (message: WireMessage) => {
      answer = message;
      return true;
    };
    await this.askMany(question, { read: readMessage, receive }, signal);
    if (answer === undefined) throw untrusted(question.what, "it is empty");
    return answer;
  }

  /** One question whose answer may take many messages; `receive` says which is the last one. */
  async askMany<Message extends MessageHead>(
    question: Question,
    { read, receive }: { readonly read: (bytes: Buffer) => Message; readonly receive: (message: Message) => boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { what } = question;
    const { transport, clock, random } = this.#world;
    const nowSeconds = () => Math.floor(clock.nowMs() / 1_000);
    const key = await this.#key(question.part);
    const id = Math.floor(random.next() * 65_536);
    const signed = signMessage(messageBytes({ ...question, id }), key, nowSeconds());
    if (signed.message.length > 65_535)
      throw new TerminalError(
        "PROVIDER_REFUSED",
        `${what} takes ${signed.message.length} bytes, and a message has at most 65535`,
      );
    const check = new AnswerCheck(key, signed.mac, nowSeconds);
    const outcome = await transport
      .stream({
        server: this.#settings.server,
        port: this.#settings.port,
        message: signed.message,
        timeoutMs: this.#timeoutMs,
        signal,
        receive: (arrived) => {
          const bytes = Buffer.from(arrived.buffer, arrived.byteOffset, arrived.byteLength);
          const message = read(bytes);
          const isSigned = trust({ question, id, check, message, bytes });
          const isLast = receive(message);
          if (isLast && !isSigned) throw untrusted(what, "its last message is not signed");
          return isLast;
        },
      })
      .catch((thrown: unknown) => {
        throw thrown instanceof WireError ? untrusted(what, thrown.message) : thrown;
      });
    if (!outcome.answered) throw silenceError(what, outcome);
  }

  async #key(part: "read" | "write"): Promise<TsigKey> {
    const { keyName, algorithm } = this.#settings;
    const secret = await accountCredential(this.#world.credentials, this.#account, part);
    const text = secret.reveal().trim();
    if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(text))
      throw new TerminalError(
        "CREDENTIAL_REFUSED",
        `Account '${this.#account.name}': the secret of key ${keyName} must be base64, as in the server's key file`,
      );
    return { name: `${keyName.toLowerCase().replace(/\.$/, "")}.`, algorithm, secret: Buffer.from(text, "base64") };
  }
}

interface Arrived {
  readonly question: Question;
  readonly id: number;
  readonly check: AnswerCheck;
  readonly message: MessageHead;
  readonly bytes: Buffer;
}

/** Whether the message is signed. What cannot be believed, and what says no, is an error. */
function trust({ question, id, check, message, bytes }: Arrived): boolean {
  const { what, accept = [] } = question;
  if (!message.isAnswer || message.id !== id) throw untrusted(what, "it answers another question");
  const { code, signature } = message;
  // A key that the server does not accept cannot sign its answer: the reason stands where the signature would be.
  if (code === answerCodes.notAuthoritative && signature !== undefined && signature.error !== 0)
    throw codeError(what, signature.error);
  const checked = check.check(bytes, signature);
  if (typeof checked === "object")
    throw code === answerCodes.noError ? untrusted(what, checked.problem) : codeError(what, code);
  if (code !== answerCodes.noError && !accept.includes(code)) throw codeError(what, code);
  return checked === "signed";
}

export function isEngineError(thrown: unknown, code: string): boolean {
  return thrown instanceof EngineError && thrown.code === code;
}
