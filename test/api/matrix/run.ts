import type { LightMyRequestResponse } from "fastify";
import { apiRoutes } from "../../../src/control-api/app.ts";
import { organizationIdOf } from "../../../src/control-api/names.ts";
import type { Route } from "../../../src/control-api/route.ts";
import { createEngineOpener } from "../../../src/runtime/engine-seal.ts";
import type { TestApi } from "../../support/api.ts";
import { query } from "../../support/postgres.ts";
import { assemble, type Cast } from "./cast.ts";
import { absentId, fill, type Filled, urlOf } from "./requests.ts";
import type { Line } from "./table.ts";
import { furnish, nowhere, ours, type Place, sibling, theirs, Workshop } from "./workshop.ts";

/** How fast somebody may ask is another test's business. */
export const generousLimits = {
  bodyBytes: 1_048_576,
  requestMs: 30_000,
  rate: { perSecond: 1_000_000, burst: 1_000_000 },
};

export interface MatrixResult {
  readonly lines: readonly Line[];
  /** What no table is needed for: somebody learned something of another tenant. */
  readonly leaks: readonly string[];
}

/** Sends every route's request as everybody, to our own place, to the project beside it and to another tenant. */
export async function runMatrix(api: TestApi, only?: readonly string[]): Promise<MatrixResult> {
  const workshop = new Workshop(api);
  await haveEngine(api);
  for (const place of [ours, theirs]) await furnish(workshop, place);
  const cast = await assemble(workshop);
  const chosen: Cast = only === undefined ? cast : new Map([...cast].filter(([column]) => only.includes(column)));
  const run = new Run(workshop, chosen);
  const lines: Line[] = [];
  for (const route of apiRoutes(api.context)) lines.push(await run.line(route));
  return { lines, leaks: run.leaks };
}

/** Credentials are sealed to the key of an engine, so there must have been one. */
export async function haveEngine({ url }: TestApi): Promise<void> {
  const { id, publicKey } = createEngineOpener([new Uint8Array(32).fill(9)]).key;
  const text =
    "insert into setpoint.engine_key (id, public_key, made_at_ms, is_current) values ($1, $2, 1, true) on conflict do nothing";
  await query(url, text, [id, publicKey]);
}

class Run {
  readonly leaks: string[] = [];
  readonly #workshop: Workshop;
  readonly #cast: Cast;

  constructor(workshop: Workshop, cast: Cast) {
    this.#workshop = workshop;
    this.#cast = cast;
  }

  async line(route: Route): Promise<Line> {
    const { method, path } = route;
    const desks = placesOf(route).map((place) => new Desk(this.#workshop, route, place));
    const cells = new Map<string, string>();
    for (const [column, proofs] of this.#cast) {
      const answers: string[] = [];
      for (const proof of proofs) answers.push(await this.#cell(route, desks, column, proof));
      cells.set(column, [...new Set(answers)].join(" or "));
    }
    cells.set("crossed", await this.#crossed(route));
    return { method, path, cells };
  }

  async #cell(route: Route, desks: readonly Desk[], column: string, proof: string | undefined): Promise<string> {
    const parts: string[] = [];
    for (const desk of desks) {
      const answer = await desk.send(proof);
      parts.push(shown(answer.statusCode));
      const who = `${column}: ${route.method} ${desk.url}`;
      if (desk.place === theirs && refusedAsAbsent(answer))
        await this.#compareWithAbsent(route, desk, proof, answer, who);
      if (desk.place !== theirs && route.need.at !== "platform" && !seesAll(column) && tellsOfThem(answer.body))
        this.leaks.push(`${who} tells of another tenant: ${answer.body.slice(0, 300)}`);
    }
    return new Set(parts).size === 1 ? (parts[0] ?? "") : parts.join("/");
  }

  /** The very same request to an organization that does not exist must be answered with the very same words. */
  async #compareWithAbsent(
    route: Route,
    desk: Desk,
    proof: string | undefined,
    answer: LightMyRequestResponse,
    who: string,
  ): Promise<void> {
    const absent = await send(this.#workshop.api, route, urlOf(route, nowhere, desk.filled), desk.filled, proof);
    const [seen, expected] = [plain(answer, theirs), plain(absent, nowhere)];
    if (seen !== expected)
      this.leaks.push(`${who} is answered with ${seen}, and one that does not exist with ${expected}`);
  }

  /** Ids of another tenant under our own path: like ids that were never given. Tried by our owner, who may do everything. */
  async #crossed(route: Route): Promise<string> {
    const [owner] = this.#cast.get("owner") ?? [];
    if (!route.path.startsWith("/v1/organizations/{organization}") || route.need.at === "platform") return "-";
    const filled = await fill(this.#workshop, route, theirs);
    const ids = Object.entries(filled.names ?? {}).filter(([, value]) => /^[0-9a-f-]{36}$/.test(value));
    if (ids.length === 0) return "-";
    const answer = await send(this.#workshop.api, route, urlOf(route, ours, filled), filled, owner);
    const blank = {
      ...filled,
      names: { ...filled.names, ...Object.fromEntries(ids.map(([name]) => [name, absentId])) },
    };
    const absent = await send(this.#workshop.api, route, urlOf(route, ours, blank), blank, owner);
    const forget = (text: string) => ids.reduce((left, [, id]) => left.replaceAll(id, absentId), text);
    if (forget(plain(answer, ours)) !== plain(absent, ours))
      this.leaks.push(
        `owner: ${route.method} ${route.path} with ids of another tenant is answered with ${answer.body}`,
      );
    return shown(answer.statusCode);
  }
}

/** One route at one place; what a request is about is made anew after it was used up. */
class Desk {
  readonly place: Place;
  readonly #workshop: Workshop;
  readonly #route: Route;
  #filled: Filled | undefined;

  constructor(workshop: Workshop, route: Route, place: Place) {
    this.#workshop = workshop;
    this.#route = route;
    this.place = place;
  }

  get filled(): Filled {
    return this.#filled ?? {};
  }

  get url(): string {
    return urlOf(this.#route, this.place, this.filled);
  }

  async send(proof: string | undefined): Promise<LightMyRequestResponse> {
    this.#filled ??= await fill(this.#workshop, this.#route, this.place);
    const filled = this.#filled;
    const answer = await send(this.#workshop.api, this.#route, this.url, filled, proof);
    if (answer.statusCode < 300 && this.#route.method !== "GET") this.#filled = undefined;
    return answer;
  }
}

function placesOf({ path }: Route): readonly Place[] {
  if (!path.includes("{organization}")) return [ours];
  return path.includes("{project}") ? [ours, sibling, theirs] : [ours, theirs];
}

/** The keepers of the platform know which organizations there are. */
function seesAll(column: string): boolean {
  return column === "operator" || column === "administrator";
}

function tellsOfThem(body: string): boolean {
  return body.includes(theirs.organization) || body.includes(organizationIdOf(theirs.organization));
}

function refusedAsAbsent({ statusCode }: LightMyRequestResponse): boolean {
  return statusCode === 404;
}

function send(api: TestApi, { method }: Route, url: string, filled: Filled, proof: string | undefined) {
  const { body, headers = {} } = filled;
  return api.app.inject({
    method,
    url,
    headers: {
      ...(proof === undefined ? {} : { authorization: `Bearer ${proof}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
}

function shown(status: number): string {
  return status >= 200 && status < 300 ? "2xx" : String(status);
}

/** What of an answer must not differ: all but the request's id and the name that was asked for. */
function plain(answer: LightMyRequestResponse, { organization }: Place): string {
  const body = answer.body.replace(/"requestId":"[^"]*"/, "").replaceAll(organization, "NAME");
  return `${answer.statusCode} ${answer.headers["content-type"] ?? ""} ${body}`;
}
