import { lookup } from "node:dns/promises";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { WebhookAnswer, WebhookRequest, WebhookSender } from "../ports/webhook-sender.ts";
import { addressRanges, isPublicAddress } from "./public-address.ts";

const textBytes = 2_048;

interface Address {
  readonly address: string;
  readonly family: number;
}

/** `allowPrivate` are ranges that are not public and may be sent to all the same, also without TLS. */
export function createWebhookSender(options: {
  readonly allowPrivate: readonly string[];
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
}): WebhookSender {
  const isAllowed = addressRanges(options.allowPrivate);
  const resolve = options.resolve ?? ((host: string) => lookup(host, { all: true, order: "verbatim" }));
  const mayReach = (address: string) => isPublicAddress(address) || isAllowed(address);
  return Object.freeze({
    refusalOf: (text: string) => refusalOf(text, mayReach, options.allowPrivate.length > 0),
    send: async (request: WebhookRequest): Promise<WebhookAnswer> => {
      const refusal = refusalOf(request.url, mayReach, options.allowPrivate.length > 0);
      if (refusal !== undefined) return refused(refusal);
      const url = new URL(request.url);
      const deadline = AbortSignal.timeout(request.timeoutMs);
      try {
        const addresses = await beforeEnd(deadline, addressesOf(url, resolve));
        const [chosen] = addresses;
        if (chosen === undefined) return refused(`${url.hostname} has no address`);
        // One that is not public among several is enough: who chooses among them is not us.
        if (!addresses.every(({ address }) => mayReach(address)))
          return refused(`${url.hostname} leads to an address that is not public`);
        if (url.protocol === "http:" && !addresses.every(({ address }) => isAllowed(address)))
          return refused("the address must be https");
        return await exchange(url, chosen, request, deadline);
      } catch (thrown) {
        if (deadline.aborted)
          return { sent: false, reason: "timeout", message: `no answer within ${request.timeoutMs} ms` };
        const message = thrown instanceof Error ? thrown.message : String(thrown);
        return { sent: false, reason: "connection", message: message.slice(0, 300) };
      }
    },
  });
}

function refused(message: string): WebhookAnswer {
  return { sent: false, reason: "refused", message };
}

function refusalOf(text: string, mayReach: (address: string) => boolean, plainAllowed: boolean): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "it is not a URL";
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && plainAllowed)) return "the address must be https";
  if (url.username !== "" || url.password !== "") return "a name or password in the address would be sent to everybody";
  const host = hostOf(url);
  if (host === "") return "it names no host";
  if (isIP(host) !== 0) return mayReach(host) ? undefined : `${host} is not a public address`;
  return /(^|\.)(localhost|local|internal|home\.arpa)\.?$/i.test(host) && !plainAllowed
    ? `${host} is not a public name`
    : undefined;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

async function addressesOf(
  url: URL,
  resolve: (host: string) => Promise<readonly Address[]>,
): Promise<readonly Address[]> {
  const host = hostOf(url);
  const family = isIP(host);
  return family === 0 ? await resolve(host) : [{ address: host, family }];
}

async function beforeEnd<Result>(deadline: AbortSignal, work: Promise<Result>): Promise<Result> {
  const over = new Promise<never>((_resolve, reject) => {
    deadline.addEventListener("abort", () => reject(new Error("the time is up")), { once: true });
  });
  return await Promise.race([work, over]);
}

/** Connects to the very address that was checked; the name is only used for TLS and the Host header. */
function exchange(url: URL, chosen: Address, request: WebhookRequest, signal: AbortSignal): Promise<WebhookAnswer> {
  const pinned: LookupFunction = (_host, asked, done) => {
    if (asked.all === true) done(null, [{ address: chosen.address, family: chosen.family }]);
    else done(null, chosen.address, chosen.family);
  };
  const options = {
    method: "POST",
    headers: { ...request.headers, "content-length": String(Buffer.byteLength(request.body)) },
    lookup: pinned,
    agent: false,
    signal,
  } as const;
  return new Promise((resolve, reject) => {
    const answered = (answer: IncomingMessage) => {
      beginning(answer).then(
        (text) =>
          resolve({
            sent: true,
            status: answer.statusCode ?? 0,
            text,
            retryAfterMs: retryAfterMs(answer.headers["retry-after"]),
          }),
        reject,
      );
    };
    const sent = url.protocol === "https:" ? requestTls(url, options, answered) : requestPlain(url, options, answered);
    sent.on("error", reject);
    sent.end(request.body);
  });
}

async function beginning(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= textBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, textBytes).toString("utf8");
}

function retryAfterMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header.trim()) ? Number(header) * 1_000 : undefined;
}
