import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EngineError, RetryableError } from "../../../src/kernel/errors.ts";
import type { ComputeEngine, ComputeReader, ServerIntent } from "../../../src/ports/compute.ts";
import type { Http, HttpAnswer, HttpRequest, HttpSilence } from "../../../src/ports/http.ts";
import type { Provider, ProviderAccount } from "../../../src/ports/provider.ts";
import { createHetznerCloudProvider } from "../../../src/providers/hetzner-cloud/provider.ts";
import { createIonosProvider } from "../../../src/providers/ionos/provider.ts";
import type { RestWorld } from "../../../src/providers/rest-client.ts";
import { worldToken } from "../../../src/world/account-book.ts";
import { type Between, walkHetznerClient, walkIonosClient } from "../../support/client-walks.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { worldHttp } from "../../support/world-http.ts";

/** What holds for every call of every client, whatever it is for. */
const canary = "canary-5f1d7c0a9e3b4826";

interface Client {
  readonly name: string;
  readonly walk: (between: Between) => Promise<void>;
  readonly create: (world: RestWorld) => Provider;
  /** An id as its servers have. */
  readonly id: string;
  /** A refusal in the provider's own shape, and where it says which request it was. */
  readonly refusal: (message: string) => Pick<HttpAnswer, "text" | "headers">;
}

const clients: readonly Client[] = [
  {
    name: "Hetzner Cloud",
    walk: walkHetznerClient,
    create: (world) => createHetznerCloudProvider({ ...world, resolver: { nameservers: async () => [] } }),
    id: "7",
    refusal: (message) => ({
      text: JSON.stringify({ error: { code: "unknown", message } }),
      headers: { "x-correlation-id": "request-42" },
    }),
  },
  {
    name: "IONOS",
    walk: walkIonosClient,
    create: createIonosProvider,
    id: "datacenter:7",
    refusal: (message) => ({
      text: JSON.stringify({ httpStatus: 422, messages: [{ errorCode: "100", message }] }),
      headers: { location: "https://api.ionos.com/cloudapi/v6/requests/request-42/status" },
    }),
  },
];

const record = {
  id: "account-1",
  name: "demo",
  provider: "any",
  organizationId: "birds",
  settings: {},
  credentialRef: "env:TOKEN",
  mode: "enforce",
} as never;

const mark = { installationId: "installation-1", resourceUid: "uid-1" };
const intent: ServerIntent = {
  name: "web-1",
  mark,
  type: "2-cores-4-gb-20-gb-ssd",
  image: "debian:12",
  location: "main",
  labels: {},
  networks: [],
  firewalls: [],
  sshKeys: [],
  userData: undefined,
  publicAddresses: { ipv4: true, ipv6: false },
};

type Account = ProviderAccount<ComputeReader, ComputeEngine>;
const { signal } = new AbortController();

/** Calls of every sort: who it is, what it may, one thing, a list, making one, and taking one away. */
const calls: Readonly<Record<string, (account: Account, id: string) => Promise<unknown>>> = {
  identity: (account) => account.identity(signal),
  rights: (account) => account.rights?.(signal) ?? assert.fail("no rights"),
  read: ({ reader }, id) => reader.server(id, signal),
  type: ({ reader }) => reader.serverType("cx22", signal),
  list: ({ collections }) => collections["servers"]?.(undefined, signal) ?? assert.fail("no list"),
  make: ({ writer }) => writer.ensureServer(intent, signal),
  remove: ({ writer }, id) => writer.ensureServerGone({ id, mark }, signal),
};

function opened({ create }: Client, answer: HttpAnswer | HttpSilence) {
  const lines: string[] = [];
  const keep = (event: string, fields: object = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`);
  const log = { debug: keep, info: keep, warn: keep, error: keep };
  const credentials = { read: async () => ({ found: true, value: canary }) as const };
  const http: Http = { request: async () => answer };
  const account = create({ http, credentials, clock: new ManualClock(), log }).open(record) as Account;
  return { account, lines };
}

async function thrownBy(work: Promise<unknown>): Promise<EngineError | undefined> {
  return await work.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof EngineError ? thrown : assert.fail(String(thrown))),
  );
}

for (const client of clients)
  describe(`every call to ${client.name}`, () => {
    test("has a deadline, somebody who can end it, and the token in one header alone", async () => {
      const asked: HttpRequest[] = [];
      await client.walk(async (world, clock) => {
        const http = worldHttp(world, clock);
        return { request: (request) => (asked.push(request), http.request(request)) };
      });
      assert.ok(asked.length > 50, String(asked.length));
      for (const { method, url, timeoutMs, signal: given, headers = {}, body = "" } of asked) {
        assert.ok(timeoutMs > 0 && timeoutMs <= 10_000, `${method} ${url} may take ${timeoutMs} ms`);
        assert.ok(given instanceof AbortSignal, `nobody can end ${method} ${url}`);
        const { authorization, ...others } = headers;
        assert.match(authorization ?? "", new RegExp(`^Bearer .*${worldToken("demo")}`));
        assert.doesNotMatch(`${url} ${body} ${JSON.stringify(others)}`, new RegExp(worldToken("demo")));
      }
    });

    for (const [name, call] of Object.entries(calls)) {
      test(`${name}: a token that the other side repeats is in no message and no line, and the request's id is`, async () => {
        for (const status of [401, 403, 404, 409, 422, 429, 500, 503]) {
          const { text, headers } = client.refusal(`no such token: ${canary}`);
          const { account, lines } = opened(client, { answered: true, status, text, headers });
          const thrown = await thrownBy(call(account, client.id));
          assert.doesNotMatch(`${thrown?.message} ${lines.join()}`, new RegExp(canary), String(status));
          assert.match(lines.join(), /request-42/, String(status));
        }
        const message = `socket of ${canary} hung up`;
        const { account, lines } = opened(client, { answered: false, reason: "connection", sent: true, message });
        const thrown = await thrownBy(call(account, client.id));
        assert.doesNotMatch(`${thrown?.message} ${lines.join()}`, new RegExp(canary));
      });

      test(`${name}: after 429 nobody comes back before Retry-After`, async () => {
        const limited = { answered: true, status: 429, retryAfterMs: 77_000, ...client.refusal("slowly") } as const;
        const thrown = await thrownBy(call(opened(client, limited).account, client.id));
        assert.ok(thrown instanceof RetryableError, thrown?.message);
        assert.deepEqual([thrown.code, thrown.afterMs, thrown.ambiguous], ["RATE_LIMITED", 77_000, false]);
      });
    }
  });
