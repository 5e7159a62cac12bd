import { absentId, fill, type Filled, urlOf } from "../api/matrix/requests.ts";
import type { Route } from "../../src/control-api/route.ts";
import type { SeededRandom } from "../sim/random.ts";
import { brokenBody } from "./broken-body.ts";
import { brokenValue, hostileTexts } from "./broken-value.ts";
import type { Cast, Stage } from "./stage.ts";
import { validValue } from "./valid-value.ts";
import type { Sent } from "./wire.ts";

/** One request, and the route it is meant for when it is meant for one. */
export interface Planned {
  readonly sent: Sent;
  readonly route: Route | undefined;
}

type Move = (stage: Stage, random: SeededRandom) => Promise<Planned>;

const json = { "content-type": "application/json" };

/** Each way of asking, as often as it is listed. */
export const moves: Readonly<Record<string, Move>> = {
  "a request that is fine": async (stage, random) => {
    const route = drawn(stage, random);
    const filled = await filledRequest(stage, random, route);
    return planned(stage, random, route, filled, { proof: trusted(stage, random) });
  },
  "a request the schema allows": async (stage, random) => {
    const route = drawn(stage, random);
    return planned(stage, random, route, schemaRequest(stage, random, route), { query: queryOf(stage, random, route) });
  },
  "a request that is nearly fine": async (stage, random) => {
    const route = drawn(stage, random, (it) => it.body !== undefined);
    const filled = await filledRequest(stage, random, route);
    let { body } = filled;
    for (let times = random.int(1, 3); times > 0; times--) body = brokenValue(body, random);
    return planned(stage, random, route, { ...filled, body }, { proof: trusted(stage, random) });
  },
  "a body that is broken": async (stage, random) => {
    const route = drawn(stage, random, (it) => it.body !== undefined || random.chance(0.2));
    const filled = await filledRequest(stage, random, route);
    const { bytes, headers } = brokenBody(filled.body, random);
    const made = planned(stage, random, route, filled, { proof: trusted(stage, random) });
    const kept = Object.entries(made.sent.headers).filter(([name]) => name !== "content-type");
    return { ...made, sent: { ...made.sent, headers: { ...Object.fromEntries(kept), ...headers }, body: bytes } };
  },
  "a wrong method": async (stage, random) => {
    const route = drawn(stage, random);
    const made = planned(stage, random, route, schemaRequest(stage, random, route), {});
    const method = random.choose("GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND");
    return { route: undefined, sent: { ...made.sent, method } };
  },
  "odd headers": async (stage, random) => {
    const route = drawn(stage, random);
    const filled = await filledRequest(stage, random, route);
    const made = planned(stage, random, route, filled, {});
    return { ...made, sent: { ...made.sent, headers: { ...made.sent.headers, ...oddHeaders(random) } } };
  },
  "an odd path": async (stage, random) => {
    const route = drawn(stage, random);
    const path = route.path.replace(/\{(\w+)\}/g, (_match, name: string) =>
      random.chance(0.5) ? segment(random) : encodeURIComponent(nameFor(stage, random, name)),
    );
    const query = random.chance(0.5) ? oddQuery(stage, random, route) : "";
    const made = planned(stage, random, route, schemaRequest(stage, random, route), {});
    return { route: undefined, sent: { ...made.sent, path: `${path}${query}` } };
  },
};

function drawn(stage: Stage, random: SeededRandom, fits: (route: Route) => boolean = () => true): Route {
  for (;;) {
    const route = random.pick(stage.routes);
    if (route !== undefined && fits(route)) return route;
  }
}

/** What whoever knows this route would send; where only the schema is known, what that allows. */
async function filledRequest(stage: Stage, random: SeededRandom, route: Route): Promise<Filled> {
  if (!route.path.startsWith("/v1/organizations/{organization}")) return schemaRequest(stage, random, route);
  try {
    const filled = await fill(stage.workshop, route, stage.ours);
    for (const [name, value] of Object.entries(filled.names ?? {})) stage.learn(name, value);
    return filled;
  } catch (thrown) {
    // Requests before this one may have taken away what it needs; that it was refused is fine, that it failed is not.
    if (!(thrown instanceof Error) || !thrown.message.startsWith("Preparing ") || /"status":5\d\d/.test(thrown.message))
      throw thrown;
    return schemaRequest(stage, random, route);
  }
}

function schemaRequest(stage: Stage, random: SeededRandom, route: Route): Filled {
  const operation = stage.document.paths[route.path]?.[route.method.toLowerCase()];
  const schema = Object.values(operation?.requestBody?.content ?? {})[0]?.schema;
  const names = Object.fromEntries(
    [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, nameFor(stage, random, name)]),
  );
  const apply = route.bodyType === undefined ? {} : { headers: { "content-type": route.bodyType } };
  return { names, ...apply, ...(schema === undefined ? {} : { body: validValue(schema, stage.document, random) }) };
}

function nameFor(stage: Stage, random: SeededRandom, name: string): string {
  if (name === "organization") return random.chance(0.85) ? stage.ours.organization : stage.theirs.organization;
  if (name === "project" && random.chance(0.7)) return stage.ours.project;
  if (name === "workspace") return random.chance(0.9) ? stage.ours.workspace : "none";
  const seen = stage.known(name);
  return (random.chance(0.8) ? random.pick(seen) : undefined) ?? random.choose(absentId, "absent", "zone");
}

function queryOf(stage: Stage, random: SeededRandom, route: Route): string {
  const parameters = stage.document.paths[route.path]?.[route.method.toLowerCase()]?.parameters ?? [];
  const pairs = parameters
    // Being looked at again waits for an engine, by design, and there is none.
    .filter((parameter) => parameter.in === "query" && parameter.name !== "fresh" && random.chance(0.5))
    .map(({ name, schema }): [string, string] => [name, String(validValue(schema, stage.document, random, name))]);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

function oddQuery(stage: Stage, random: SeededRandom, route: Route): string {
  const parameters = stage.document.paths[route.path]?.[route.method.toLowerCase()]?.parameters ?? [];
  const names = parameters.flatMap((parameter) =>
    parameter.in === "query" && parameter.name !== "fresh" ? [parameter.name] : [],
  );
  const name = random.pick(names) ?? random.choose("a", "__proto__", "constructor", "pageToken");
  const value = segment(random);
  return random.choose(
    `?${name}=${value}`,
    `?${name}=${value}&${name}=${value}`,
    `?${name}[a]=${value}`,
    `?${name}`,
    `?__proto__=${value}&${name}=${value}`,
    `?${"a=b&".repeat(500)}`,
    "?%",
    "?&&==",
  );
}

/** Encoded as it should be, mostly. */
function segment(random: SeededRandom): string {
  if (random.chance(0.15))
    return random.choose("%", "%zz", "%c0%af", "%ff", ".", "..", "", "%2f", ";a=b", "a%3areconcile");
  return encodeURIComponent((random.pick(hostileTexts) ?? "").toWellFormed());
}

function trusted(stage: Stage, random: SeededRandom): string {
  return random.choose(stage.cast.owner, stage.cast.owner, stage.cast.operator, stage.cast.administrator);
}

const proofs: readonly (keyof Cast)[] = [
  "operator",
  "administrator",
  "owner",
  "owner",
  "auditor",
  "service",
  "stranger",
];

function proofOf(stage: Stage, random: SeededRandom): Readonly<Record<string, string>> {
  if (random.chance(0.06))
    return random.choose<Readonly<Record<string, string>>>(
      {},
      { authorization: "Bearer" },
      { authorization: "Basic YTpi" },
      { authorization: `Bearer ${"x".repeat(8_000)}` },
      { authorization: "Bearer spt_pat_0000000000000000000000000000000000000000" },
      { cookie: `setpoint=${"y".repeat(43)}; __Host-setpoint=z` },
    );
  return { authorization: `Bearer ${stage.cast[random.pick(proofs) ?? "owner"]}` };
}

function oddHeaders(random: SeededRandom): Readonly<Record<string, string>> {
  const text = (random.pick(hostileTexts) ?? "").replace(/[^\x20-\x7e]/g, "\u00e9").slice(0, 3_000);
  const revision = random.choose('"1"', 'W/"1"', '"999999999999999999999999"', '"-1"', "1", '""', '"1", "2"', text);
  return random.choose<Readonly<Record<string, string>>>(
    { "idempotency-key": random.choose("key-1", "key-2", "key-3", text, "k".repeat(300)) },
    { "idempotency-key": random.choose("key-1", "key-2") },
    { "if-match": revision },
    { "if-none-match": random.choose("*", revision) },
    { "last-event-id": random.choose(text, "0", "99999999999999999999", "-1", "1:1:1") },
    { "setpoint-reason": text },
    { "x-request-id": text },
    { accept: random.choose("text/event-stream", "image/png", "*/*;q=0", text) },
    { "accept-encoding": random.choose("gzip", "br;q=2", text) },
    { origin: random.choose("http://evil.test", "null", text), "sec-fetch-site": "cross-site" },
    { "x-http-method-override": "DELETE", "x-forwarded-for": text, "x-forwarded-proto": "https" },
    { range: "bytes=0-1" },
    { traceparent: random.choose(text, `00-${"0".repeat(32)}-${"0".repeat(16)}-01`) },
    { host: random.choose("evil.test", text.replace(/[^\w.]/g, "") || "x") },
    { "content-length-x": text, te: "trailers" },
  );
}

function planned(
  stage: Stage,
  random: SeededRandom,
  route: Route,
  filled: Filled,
  more: { readonly proof?: string; readonly query?: string },
): Planned {
  const query = more.query ?? filled.query ?? "";
  const path = urlOf(route, stage.ours, { ...filled, query: query === "?unexpected=1" ? "" : query });
  const proof = more.proof === undefined ? proofOf(stage, random) : { authorization: `Bearer ${more.proof}` };
  const body = filled.body === undefined ? undefined : Buffer.from(JSON.stringify(filled.body) ?? "");
  const headers = { ...proof, ...(body === undefined ? {} : json), ...filled.headers };
  return { route, sent: { method: route.method, path, headers, body } };
}
