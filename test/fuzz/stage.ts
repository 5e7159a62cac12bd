import type { AddressInfo } from "node:net";
import { haveEngine } from "../api/matrix/run.ts";
import { furnish, organizationPath, type Place, Workshop } from "../api/matrix/workshop.ts";
import { apiRoutes } from "../../src/control-api/app.ts";
import { openApiDocument } from "../../src/control-api/openapi.ts";
import type { Route } from "../../src/control-api/route.ts";
import { startTestApi, type TestApi, token as operatorToken } from "../support/api.ts";
import { signedIn } from "../support/people.ts";
import type { OpenApiDocument } from "./json-schema.ts";
import { Wire } from "./wire.ts";

/** Whoever asks, by name; undefined proves nothing. */
export interface Cast {
  readonly operator: string;
  readonly administrator: string;
  readonly owner: string;
  readonly auditor: string;
  readonly service: string;
  readonly stranger: string;
}

const generousLimits = {
  bodyBytes: 1_048_576,
  requestMs: 30_000,
  rate: { perSecond: 1_000_000, burst: 1_000_000 },
};
const everything = [{ key: "*", actions: ["read", "create", "update", "delete", "execute"] }];
const remembered = 40;

/** The server that is asked, two tenants on it that are made anew from time to time, and what was learned so far. */
export class Stage implements AsyncDisposable {
  readonly api: TestApi;
  readonly routes: readonly Route[];
  readonly document: OpenApiDocument;
  readonly wire: Wire;
  workshop: Workshop;
  ours: Place = { organization: "", project: "web", workspace: "live" };
  theirs: Place = this.ours;
  cast: Cast;
  /** Values that were seen for a parameter of a path. */
  readonly #known = new Map<string, string[]>();
  #round = 0;

  private constructor(api: TestApi, wire: Wire) {
    this.api = api;
    this.wire = wire;
    this.routes = apiRoutes(api.context);
    this.document = openApiDocument(this.routes, "fuzz") as unknown as OpenApiDocument;
    this.workshop = new Workshop(api);
    const operator = operatorToken;
    this.cast = { operator, administrator: "", owner: "", auditor: "", service: "", stranger: "" };
  }

  static async open(): Promise<Stage> {
    const api = await startTestApi({ limits: generousLimits });
    await haveEngine(api);
    await api.app.listen({ port: 0, host: "127.0.0.1" });
    const stage = new Stage(api, new Wire((api.app.server.address() as AddressInfo).port));
    await stage.furnish();
    return stage;
  }

  /** Two new tenants with something of every sort, and new people: whatever the requests before took away is back. */
  async furnish(): Promise<void> {
    const round = ++this.#round;
    const { api } = this;
    this.workshop = new Workshop(api);
    this.ours = { ...this.ours, organization: `ours-${round}` };
    this.theirs = { ...this.ours, organization: `theirs-${round}` };
    for (const kind of ["DnsZone", "DnsRecord"])
      await this.workshop.make("PUT", `/v1/quotas/${kind}`, { limit: 1_000_000 });
    for (const place of [this.ours, this.theirs]) await furnish(this.workshop, place);
    const join = async (place: Place, role: string) =>
      await this.workshop.member(place, `${role}@${place.organization}.test`, [{ role }]);
    const owner = await join(this.ours, "owner");
    const made = await owner.send("POST", `${organizationPath(this.ours)}/tokens`, {
      type: "service-token",
      name: "fuzz",
      expiresInDays: 1,
      access: [{ rules: everything }],
    });
    const platformRole = "administrator";
    this.cast = {
      operator: operatorToken,
      administrator: (await signedIn(api, `administrator@round-${round}.test`, { platformRole })).token,
      owner: owner.token,
      auditor: (await join(this.ours, "auditor")).token,
      service: String(made.body["token"]),
      stranger: (await join(this.theirs, "owner")).token,
    };
    this.#known.clear();
    this.learn("person", owner.id);
    for (const name of ["web", "shop", "only-shop"]) this.learn("project", name);
    this.learn("name", "zone");
    this.learn("name", "record");
    this.learn("account", "lab");
    this.learn("secret", "password");
    this.learn("role", "reader");
    this.learn("kind", "DnsZone");
  }

  learn(parameter: string, value: string): void {
    const values = this.#known.get(parameter) ?? [];
    if (values.includes(value)) return;
    this.#known.set(parameter, [...values.slice(1 - remembered), value]);
  }

  known(parameter: string): readonly string[] {
    return this.#known.get(parameter) ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.wire.close();
    await this.api[Symbol.asyncDispose]();
  }
}
