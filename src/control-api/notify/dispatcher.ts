import { thrownMessage } from "../../kernel/errors.ts";
import { oldHoldMs } from "../../kernel/steering.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Mailer } from "../../ports/mailer.ts";
import type { DeliveryOutcome, DueDelivery, NotificationStore } from "../../ports/notification-store.ts";
import type { Random } from "../../ports/random.ts";
import type { SecretBox } from "../../ports/secret-box.ts";
import type { WebhookAnswer, WebhookSender } from "../../ports/webhook-sender.ts";
import { answerWithinMs } from "../held-document.ts";
import { interpret } from "./interpret.ts";
import { mailOf, messageOf, signedHeaders } from "./message.ts";

const second = 1_000;
const hour = 3_600 * second;
/** Waits between tries: soon at first, then a day apart. */
export const retryScheduleMs: readonly number[] = [
  second,
  5 * second,
  30 * second,
  120 * second,
  600 * second,
  1_800 * second,
  2 * hour,
  5 * hour,
  12 * hour,
  24 * hour,
];
/** An endpoint at which nothing arrived for so long is switched off. */
export const disableAfterMs = 5 * 24 * hour;

const pollMs = second;
const batchSize = 500;
const atOnce = 8;
const sendTimeoutMs = 15 * second;
/** Longer than a send can take, so that nobody else tries it meanwhile. */
const leaseMs = 60 * second;

export interface DispatcherOptions {
  readonly store: NotificationStore;
  readonly sender: WebhookSender;
  readonly mailer: Mailer | undefined;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where links lead. */
  readonly publicUrl: string;
}

/** The binding under which the secret of an endpoint is sealed. */
export function secretBinding(organizationId: string, endpointId: string): string {
  return `webhook/${organizationId}/${endpointId}`;
}

/**
 * Tells people: reads the sealed log, gathers what has one cause, and sends it until it arrived or was given up. Any number
 * of processes may run one; the log is read by one at a time, and a message is tried by one at a time.
 */
export class NotificationDispatcher {
  readonly #options: DispatcherOptions;
  #poke = new AbortController();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** There may be something to tell. Returns at once. */
  poke(): void {
    this.#poke.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      await clock.wait(pollMs, AbortSignal.any([signal, this.#poke.signal]));
      this.#poke = new AbortController();
      if (signal.aborted) return;
      try {
        await this.step();
      } catch (thrown) {
        // Whatever is not told yet is still in the log or in the queue.
        log.warn("notify.not-told", { message: thrownMessage(thrown) });
      }
    }
  }

  /** Everything that can be done now. */
  async step(): Promise<{ readonly told: number; readonly tried: number }> {
    const { store, mailer, publicUrl } = this.#options;
    // It is told like everything else, once it is sealed.
    await store.noteOverdue({ undecidedForMs: answerWithinMs, holdsForMs: oldHoldMs });
    for (let read: number | undefined = batchSize; read === batchSize; )
      read = await store.gather(batchSize, interpret);
    const told = await store.tell({
      withEmail: mailer !== undefined,
      bodyOf: (notification, nowMs) => messageOf(notification, nowMs, publicUrl),
    });
    let tried = 0;
    for (let due = await store.takeDue(atOnce, leaseMs); due.length > 0; due = await store.takeDue(atOnce, leaseMs)) {
      await Promise.all(due.map((delivery) => this.#deliver(delivery)));
      tried += due.length;
    }
    return { told, tried };
  }

  async #deliver(delivery: DueDelivery): Promise<void> {
    const outcome = await (delivery.channel === "email" ? this.#mail(delivery) : this.#post(delivery));
    await this.#options.store.recordAnswer({ delivery, ...outcome });
  }

  async #post(delivery: DueDelivery): Promise<Outcome> {
    const { endpoint, id, body, organizationId, target, nowMs } = delivery;
    const { secretBox, sender } = this.#options;
    if (endpoint === undefined || endpoint.state === "disabled")
      return {
        answer: { atMs: nowMs, text: "the endpoint is switched off" },
        result: { as: "failed", disable: undefined },
      };
    const binding = secretBinding(organizationId, target);
    let secrets: readonly string[];
    try {
      secrets = await Promise.all(endpoint.secrets.map((sealed) => secretBox.open(sealed, binding)));
    } catch {
      const text = "the secret of this endpoint cannot be opened here: rotate it";
      return { answer: { atMs: nowMs, text }, result: { as: "failed", disable: text } };
    }
    const headers = signedHeaders({ id, body, timestampSeconds: Math.floor(nowMs / second) }, secrets);
    const answer = await sender.send({ url: endpoint.url, headers, body, timeoutMs: sendTimeoutMs });
    const seen = answer.sent
      ? { atMs: nowMs, status: answer.status, text: answer.text }
      : { atMs: nowMs, text: `${answer.reason}: ${answer.message}` };
    return { answer: seen, result: this.#judge(delivery, answer) };
  }

  #judge(delivery: DueDelivery, answer: WebhookAnswer): Outcome["result"] {
    if (answer.sent && answer.status >= 200 && answer.status < 300) return { as: "delivered" };
    if (answer.sent && answer.status === 410)
      return { as: "failed", disable: "it answered 410: it does not want to be told any more" };
    const failingSinceMs = delivery.endpoint?.failingSinceMs ?? delivery.nowMs;
    if (delivery.nowMs - failingSinceMs >= disableAfterMs)
      return {
        as: "failed",
        disable: `nothing has arrived there for ${Math.round(disableAfterMs / (24 * hour))} days`,
      };
    return this.#again(delivery, answer.sent ? answer.retryAfterMs : undefined);
  }

  async #mail(delivery: DueDelivery): Promise<Outcome> {
    const { mailer } = this.#options;
    const { nowMs, target, body } = delivery;
    const { subject, text } = mailOf(body);
    try {
      if (mailer === undefined) throw new Error("no mail server is set");
      await mailer.send(target, subject, text);
      return { answer: { atMs: nowMs, text: "taken by the mail server" }, result: { as: "delivered" } };
    } catch (thrown) {
      const why = thrownMessage(thrown);
      return { answer: { atMs: nowMs, text: why.slice(0, 300) }, result: this.#again(delivery, undefined) };
    }
  }

  /** A receiver's own wish wins, up to a day; then the schedule, spread out so that many do not come back together. */
  #again({ attempts }: DueDelivery, retryAfterMs: number | undefined): Outcome["result"] {
    const scheduledMs = retryScheduleMs[attempts - 1];
    if (scheduledMs === undefined) return { as: "failed", disable: undefined };
    const spreadMs = scheduledMs * (0.8 + 0.4 * this.#options.random.next());
    return { as: "again", inMs: Math.max(spreadMs, Math.min(retryAfterMs ?? 0, 24 * hour)) };
  }
}

type Outcome = Omit<DeliveryOutcome, "delivery">;
