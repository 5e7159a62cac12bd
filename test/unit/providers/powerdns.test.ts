import assert from "node:assert/strict";
import { test } from "node:test";
import { accountCredentialBinding } from "../../../src/kernel/account-credential.ts";
import { RetryableError, TerminalError } from "../../../src/kernel/errors.ts";
import type { Http, HttpAnswer, HttpRequest, HttpSilence } from "../../../src/ports/http.ts";
import type { AccountRecord } from "../../../src/ports/records.ts";
import { createPowerDnsProvider } from "../../../src/providers/powerdns/provider.ts";
import { zoneId } from "../../../src/providers/powerdns/zone-access.ts";

const signal = new AbortController().signal;
const account: AccountRecord = {
  id: "a",
  organizationId: "o",
  name: "lab",
  provider: "powerdns",
  settings: { url: "http://dns.test:8081/" },
  credentialRef: "env:KEY",
  fingerprint: undefined,
  claimedIncarnation: undefined,
};

/** A server that answers every call with the given answers in turn. */
function opened(answers: readonly (Partial<HttpAnswer> | HttpSilence)[], record: AccountRecord = account) {
  const calls: HttpRequest[] = [];
  const http: Http = {
    request: async (request) => {
      const answer = answers[calls.length] ?? {};
      calls.push(request);
      if ("reason" in answer) return answer;
      return { answered: true, status: 200, headers: {}, text: "", ...answer };
    },
  };
  const credentials = { read: async () => ({ found: true, value: "secret-key" }) as const };
  return {
    world: createPowerDnsProvider({ http, credentials, resolver: { nameservers: async () => [] } }).open(record),
    calls,
  };
}

const zone = (rrsets: unknown[], kind = "Native") => ({
  text: JSON.stringify({ name: "example.test.", kind, rrsets }),
});

test("each refusal becomes the error that says whether trying again can help, in the server's own words", async () => {
  const table = [
    [{ status: 401, text: "Unauthorized" }, "CREDENTIAL_REFUSED", TerminalError],
    [{ status: 403, text: "Forbidden" }, "CREDENTIAL_REFUSED", TerminalError],
    [{ status: 404, text: "Not Found" }, "NOT_FOUND", TerminalError],
    [{ status: 409, text: "Conflict" }, "ALREADY_EXISTS", TerminalError],
    [{ status: 422, text: '{"error":"RRset www: Name is out of zone"}' }, "PROVIDER_REFUSED", TerminalError],
    [{ status: 302, text: "" }, "PROVIDER_REFUSED", TerminalError],
    [{ status: 429, text: "slow down", retryAfterMs: 9_000 }, "RATE_LIMITED", RetryableError],
    [{ status: 500, text: '{"error":"database is locked"}' }, "PROVIDER_UNAVAILABLE", RetryableError],
    [{ answered: false, reason: "timeout", sent: true, message: "no answer" }, "TIMED_OUT", RetryableError],
    [
      { answered: false, reason: "connection", sent: false, message: "refused" },
      "PROVIDER_UNAVAILABLE",
      RetryableError,
    ],
  ] as const;
  for (const [answer, code, family] of table) {
    const { world } = opened([answer]);
    const change = { action: "delete", name: "www.example.test.", type: "A" } as const;
    const thrown: unknown = await world.writer
      .change("example.test.", [change], signal)
      .catch((error: unknown) => error);
    assert.ok(thrown instanceof family, code);
    assert.equal(thrown.code, code);
    assert.ok(!thrown.message.includes("secret-key"));
    if (thrown instanceof RetryableError) {
      assert.equal(thrown.ambiguous, !("sent" in answer && !answer.sent) && code !== "RATE_LIMITED", code);
      if (code === "RATE_LIMITED") assert.equal(thrown.afterMs, 9_000);
    }
    if (code === "PROVIDER_REFUSED" && answer.status === 422) assert.match(thrown.message, /Name is out of zone/);
  }
});

test("a zone that is not there is told from a record set that is not there", async () => {
  const request = { zone: "example.test.", name: "www.example.test.", type: "A" };
  assert.equal(await opened([{ status: 404 }]).world.reader.zone("example.test.", signal), undefined);
  assert.equal(await opened([{ status: 404 }]).world.reader.recordSet(request, signal), "no-zone");
  assert.equal(await opened([zone([])]).world.reader.recordSet(request, signal), "absent");
});

test("the match of one record set is made again here, for servers that do not know the filter", async () => {
  const rrset = (name: string, type: string) => ({
    name,
    type,
    ttl: 60,
    records: [{ content: "192.0.2.1", disabled: false }],
  });
  const { world, calls } = opened([zone([rrset("other.example.test.", "A"), rrset("www.example.test.", "A")])]);
  const seen = await world.reader.recordSet({ zone: "example.test.", name: "www.example.test.", type: "A" }, signal);
  assert.deepEqual(seen, {
    name: "www.example.test.",
    type: "A",
    ttlSeconds: 60,
    values: ["192.0.2.1"],
    disabledValues: [],
  });
  assert.match(calls[0]?.url ?? "", /zones\/example\.test\.\?rrset_name=www\.example\.test\.&rrset_type=A$/);
});

test("an answer in an unknown shape, a secondary zone and junk are failures, never an empty zone", async () => {
  const read = (answer: Partial<HttpAnswer>) => opened([answer]).world.reader.zone("example.test.", signal);
  await assert.rejects(read({ text: "{}" }), /in a shape we do not know/);
  await assert.rejects(read({ text: "<html>" }), /not JSON/);
  await assert.rejects(read(zone([], "Slave")), /is a secondary/);
});

test("nothing is asked of the server without a name, and no empty record set is written", async () => {
  const { world, calls } = opened([]);
  await assert.rejects(world.reader.zone("", signal), { code: "WILDCARD_REFUSED" });
  await assert.rejects(world.reader.recordSet({ zone: "example.test.", name: "", type: "A" }, signal), {
    code: "WILDCARD_REFUSED",
  });
  const empty = {
    action: "replace",
    recordSet: { name: "www.example.test.", type: "A", ttlSeconds: 1, values: [] },
  } as const;
  await assert.rejects(world.writer.change("example.test.", [empty], signal), { code: "WILDCARD_REFUSED" });
  await assert.rejects(world.writer.change(".", [{ action: "delete", name: "a.", type: "A" }], signal), {
    code: "WILDCARD_REFUSED",
  });
  await world.writer.change("example.test.", [], signal);
  assert.equal(calls.length, 0);
});

test("many changes are one call, in the server's words", async () => {
  const { world, calls } = opened([{ status: 204 }]);
  await world.writer.change(
    "example.test.",
    [
      { action: "replace", recordSet: { name: "a.example.test.", type: "A", ttlSeconds: 60, values: ["192.0.2.1"] } },
      { action: "delete", name: "b.example.test.", type: "TXT" },
    ],
    signal,
  );
  assert.equal(calls.length, 1);
  assert.equal(calls[0]?.method, "PATCH");
  assert.equal(calls[0]?.url, "http://dns.test:8081/api/v1/servers/localhost/zones/example.test.");
  assert.deepEqual(JSON.parse(calls[0]?.body ?? ""), {
    // What goes comes first, so that an alias can take its place.
    rrsets: [
      { name: "b.example.test.", type: "TXT", changetype: "DELETE" },
      {
        name: "a.example.test.",
        type: "A",
        ttl: 60,
        changetype: "REPLACE",
        records: [{ content: "192.0.2.1", disabled: false }],
      },
    ],
  });
});

test("the fingerprint follows where the server keeps its data, not how it is tuned", async () => {
  const fingerprint = async (settings: Readonly<Record<string, string>>) => {
    const config = Object.entries({ launch: "gsqlite3", "server-id": "ns1", ...settings }).map(([name, value]) => ({
      name,
      value,
    }));
    const server = { id: "localhost", daemon_type: "authoritative", url: "/api/v1/servers/localhost" };
    const { world } = opened([{ text: JSON.stringify(server) }, { text: JSON.stringify(config) }, { text: "[]" }]);
    return (await world.identity(signal)).fingerprint;
  };
  const base = await fingerprint({ "gsqlite3-database": "/a.db", "max-cache-entries": "1" });
  assert.equal(await fingerprint({ "gsqlite3-database": "/a.db", "max-cache-entries": "2" }), base);
  assert.notEqual(await fingerprint({ "gsqlite3-database": "/b.db" }), base);
  assert.notEqual(await fingerprint({ "gsqlite3-database": "/a.db", "server-id": "ns2" }), base);
});

test("settings and credentials that cannot work say so before any call", async () => {
  assert.throws(
    () => opened([], { ...account, settings: { url: "ftp://x", more: 1 } }),
    /Account 'lab': .*settings\.url/,
  );
  const { world } = opened([], { ...account, credentialRef: undefined });
  await assert.rejects(world.reader.zone("example.test.", signal), { code: "CREDENTIAL_REFUSED" });
});

test("zone ids use the server's own encoding", () => {
  assert.equal(zoneId("0/25.2.0.192.in-addr.arpa."), "0=2F25.2.0.192.in-addr.arpa.");
  assert.equal(zoneId("_x.example.test."), "=5Fx.example.test.");
});

test("looking uses the credential that can only look, acting the other one, each bound to its account", async () => {
  const used: (readonly [header: string | undefined, method: string])[] = [];
  const http: Http = {
    request: async ({ method, headers }) => {
      used.push([headers?.["x-api-key"], method]);
      return { answered: true, status: method === "GET" ? 200 : 204, headers: {}, ...zone([]) };
    },
  };
  const asked: (readonly [reference: string, binding: string])[] = [];
  const credentials = {
    read: async (reference: string, binding: string) => {
      asked.push([reference, binding]);
      return { found: true, value: `value of ${reference}` } as const;
    },
  };
  const provider = createPowerDnsProvider({ http, credentials, resolver: { nameservers: async () => [] } });
  const both = provider.open({ ...account, credentialRef: "env:WRITE", readCredentialRef: "env:READ" });
  await both.reader.zone("example.test.", signal);
  await both.writer.change("example.test.", [{ action: "delete", name: "www.example.test.", type: "A" }], signal);
  const one = provider.open({ ...account, credentialRef: "env:ONLY" });
  await one.reader.zone("example.test.", signal);
  assert.deepEqual(used, [
    ["value of env:READ", "GET"],
    ["value of env:WRITE", "PATCH"],
    ["value of env:ONLY", "GET"],
  ]);
  assert.deepEqual(
    asked.map(([, binding]) => binding),
    [
      accountCredentialBinding(account, "read"),
      accountCredentialBinding(account, "write"),
      accountCredentialBinding(account, "write"),
    ],
  );
});
