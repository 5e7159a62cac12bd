import type { Json } from "../../../src/ports/json.ts";
import type { Principal } from "../../../src/ports/records.ts";
import type { ItemSpec, SetSpec } from "../sim-kind.ts";
import type { ResourceRow } from "../store/rows.ts";
import { accountIds, type Cast, ignoring, itemSpecOf, machine, people, specOf, tenantIds } from "./cast.ts";
import { declareItem, declareSet, drawContent, drawItems, redeclare } from "./declare.ts";
import { governanceActions } from "./governance-actor.ts";

export type Action = () => Promise<unknown> | undefined;

/** People and programs who declare, change, delete, pause and approve, at random moments. */
export class ApiActor {
  readonly #cast: Cast;
  readonly #actions: readonly { readonly weight: number; readonly act: Action }[];
  #names = 0;

  constructor(cast: Cast) {
    this.#cast = cast;
    const { intents, rare } = cast.swarm;
    this.#actions = [
      { weight: 30, act: () => this.#changeItems() },
      { weight: 12, act: () => this.#declareItem() },
      { weight: 6, act: () => this.#declareSet() },
      { weight: intents.deletions ? 8 : 0, act: () => this.#deleteItem() },
      { weight: intents.deletions ? 4 : 0, act: () => this.#deleteSet() },
      { weight: intents.emptied ? 8 : 0, act: () => this.#emptySet() },
      { weight: intents.brokenSpecs ? 8 : 0, act: () => this.#breakSpec() },
      { weight: intents.unknownDesired ? 5 : 0, act: () => this.#loseSource() },
      { weight: intents.manyAccounts ? 5 : 0, act: () => this.#moveAccounts() },
      { weight: rare.movedItems ? 10 : 0, act: () => this.#moveItem() },
      { weight: rare.emptyValues ? 8 : 0, act: () => this.#emptyValue() },
      { weight: rare.namelessItems ? 2 : 0, act: () => this.#declareNameless() },
      ...governanceActions(cast, (kinds) => this.#resource(kinds)),
    ].filter(({ weight }) => weight > 0);
  }

  /** The first declarations, before anything can go wrong. */
  seedResources(): void {
    const { swarm } = this.#cast;
    for (let round = 0; round < swarm.subjectsPerTenant * swarm.tenants; round++) this.#do(() => this.#declareSet());
  }

  start(): void {
    const { world, swarm, random, api } = this.#cast;
    const next = () => {
      if (!this.#cast.faulty) return;
      this.#do(this.#drawAction());
      world.schedule(-Math.log(1 - random.next()) * swarm.intents.every, "intent", next, { owner: api });
    };
    world.schedule(swarm.intents.every, "intent", next, { owner: api });
  }

  #do(action: Action): void {
    const work = action();
    if (work !== undefined) ignoring(work, () => this.#cast.poke());
  }

  #drawAction(): Action {
    const total = this.#actions.reduce((sum, { weight }) => sum + weight, 0);
    let draw = this.#cast.random.next() * total;
    for (const { weight, act } of this.#actions) {
      draw -= weight;
      if (draw < 0) return act;
    }
    return () => undefined;
  }

  #author(): Principal {
    return this.#cast.random.choose<Principal>(machine, ...people);
  }

  #options() {
    return { uid: this.#cast.freshUid(), author: this.#author() };
  }

  #resource(kinds: readonly string[]): ResourceRow | undefined {
    const rows = [...this.#cast.store.state.tables.resources.values()];
    return this.#cast.random.pick(rows.filter((row) => kinds.includes(row.kind)));
  }

  #declare(request: ReturnType<typeof declareItem>): Promise<unknown> {
    return this.#cast.intents.declare(request);
  }

  #declareSet(): Promise<unknown> | undefined {
    const { random, swarm } = this.#cast;
    const tenant = random.pick(tenantIds(swarm)) ?? "";
    const accounts = accountIds(swarm, tenant);
    const kind = random.choose<"SimSet" | "SimZone">("SimSet", "SimZone");
    const others = [...this.#cast.store.state.tables.resources.values()].filter((row) => row.kind !== "SimItem");
    if (others.length >= swarm.subjectsPerTenant * swarm.tenants * 2) return undefined;
    const name = `${kind === "SimSet" ? "set" : "zone"}-${++this.#names}`;
    const twin = random.pick(others.filter((row) => row.kind === "SimZone" && row.organizationId === tenant));
    const shared = swarm.intents.sharedZones && kind === "SimZone" && twin !== undefined && random.chance(0.3);
    const group = shared ? (specOf(twin)?.group ?? name) : name;
    const both = swarm.intents.manyAccounts && random.chance(0.3);
    const spec: SetSpec = {
      accounts: both ? accounts : [random.pick(accounts) ?? ""],
      group,
      items: drawItems(random, swarm.itemsMax),
    };
    return this.#declare(declareSet(tenant, kind, name, spec, this.#options()));
  }

  #changeItems(): Promise<unknown> | undefined {
    const { random, swarm } = this.#cast;
    const resource = this.#resource(["SimSet", "SimZone"]);
    const spec = resource && specOf(resource);
    if (resource === undefined || spec === undefined) return undefined;
    const items = { ...spec.items };
    const key = random.pick(Object.keys(items));
    const draw = random.next();
    if (key === undefined || draw < 0.35) items[`s-${random.int(1, swarm.itemsMax + 2)}`] = drawContent(random);
    else if (draw < 0.6) delete items[key];
    else items[key] = drawContent(random);
    if (Object.keys(items).length === 0) return undefined;
    return this.#declare(redeclare(resource, { ...spec, items, zero: false } as unknown as Json, this.#options()));
  }

  /** Everything goes at once: said as such, or by mistake. */
  #emptySet(): Promise<unknown> | undefined {
    const resource = this.#resource(["SimSet", "SimZone"]);
    const spec = resource && specOf(resource);
    if (resource === undefined || spec === undefined) return undefined;
    const zero = this.#cast.random.chance(0.4);
    return this.#declare(redeclare(resource, { ...spec, items: {}, zero }, this.#options()));
  }

  #declareItem(): Promise<unknown> | undefined {
    const { random, swarm } = this.#cast;
    const existing = this.#resource(["SimItem"]);
    const known = existing && itemSpecOf(existing);
    if (existing !== undefined && known !== undefined && random.chance(0.3)) {
      const changed: ItemSpec = { ...known, value: `i${random.int(1, 6)}` };
      return this.#declare(redeclare(existing, changed as unknown as Json, this.#options()));
    }
    const target = this.#resource(["SimSet", "SimZone"]);
    if (target === undefined) return undefined;
    const shares = swarm.rare.movedItems && known !== undefined && random.chance(0.5);
    const spec: ItemSpec = {
      target: shares ? known.target : { kind: target.kind, name: target.name },
      key: shares ? known.key : `i-${random.int(1, swarm.itemsMax)}`,
      value: `i${random.int(1, 6)}`,
    };
    const name = `item-${++this.#names}`;
    const tenant = shares ? (existing?.organizationId ?? "") : target.organizationId;
    return this.#declare(declareItem(tenant, name, spec, this.#options()));
  }

  /** One item takes another key; of two under one key, the other one is deleted at about the same time. */
  #moveItem(): Promise<unknown> | undefined {
    const { random, swarm, store } = this.#cast;
    const item = this.#resource(["SimItem"]);
    const known = item && itemSpecOf(item);
    if (item === undefined || known === undefined) return undefined;
    const siblings = [...store.state.tables.resources.values()].filter((row) => {
      const spec = row.uid === item.uid || row.organizationId !== item.organizationId ? undefined : itemSpecOf(row);
      return spec?.key === known.key && spec.target.name === known.target.name;
    });
    const sibling = random.pick(siblings);
    if (sibling !== undefined) ignoring(this.#requestDeletion(sibling, undefined, false));
    const moved: ItemSpec = { ...known, key: `i-${random.int(1, swarm.itemsMax)}` };
    return this.#declare(redeclare(item, moved as unknown as Json, this.#options()));
  }

  /** A value that comes from elsewhere goes empty, or comes back. */
  #emptyValue(): Promise<unknown> | undefined {
    const item = this.#resource(["SimItem"]);
    const known = item && itemSpecOf(item);
    if (item === undefined || known === undefined) return undefined;
    const value = known.value === "" ? "i1" : "";
    return this.#declare(redeclare(item, { ...known, value }, this.#options()));
  }

  /** A key that somebody forgot to fill in. */
  #declareNameless(): Promise<unknown> | undefined {
    const target = this.#resource(["SimSet"]);
    if (target === undefined) return undefined;
    const spec: ItemSpec = { target: { kind: target.kind, name: target.name }, key: "", value: "i1" };
    return this.#declare(declareItem(target.organizationId, `item-${++this.#names}`, spec, this.#options()));
  }

  #deleteItem(): Promise<unknown> | undefined {
    const item = this.#resource(["SimItem"]);
    return item && this.#requestDeletion(item, this.#cast.random.choose(undefined, undefined, 1), false);
  }

  #deleteSet(): Promise<unknown> | undefined {
    const { random, store } = this.#cast;
    const set = this.#resource(["SimSet", "SimZone"]);
    if (set === undefined) return undefined;
    const subjects = [...store.state.tables.subjects.values()].filter((row) => row.resourceUid === set.uid);
    const count = subjects.reduce((sum, row) => sum + row.nowOwned, 0);
    return this.#requestDeletion(set, random.choose(undefined, count, 1), random.chance(0.1));
  }

  #requestDeletion(row: ResourceRow, confirmedCount: number | undefined, orphan: boolean): Promise<unknown> {
    const { organizationId, uid } = row;
    const author = this.#author();
    return this.#cast.intents.requestDeletion({
      organizationId,
      uid,
      ifRevision: undefined,
      author,
      orphan,
      confirmedCount,
    });
  }

  /** A spec that no longer parses, as after an upgrade; and its repair. */
  #breakSpec(): Promise<unknown> | undefined {
    const resource = this.#resource(this.#cast.random.chance(0.6) ? ["SimItem"] : ["SimSet", "SimZone"]);
    if (resource === undefined) return undefined;
    const { spec } = resource;
    const broken = typeof spec === "object" && spec !== null && "broken" in spec ? (spec as { was: Json }) : undefined;
    const key = itemSpecOf(resource)?.key ?? "";
    const next: Json = broken === undefined ? { broken: key, was: spec } : broken.was;
    return this.#declare(redeclare(resource, next, { ...this.#options(), accounts: this.#accountsOf(resource) }));
  }

  #loseSource(): Promise<unknown> | undefined {
    const resource = this.#resource(["SimSet", "SimZone"]);
    const spec = resource && specOf(resource);
    if (resource === undefined || spec === undefined) return undefined;
    const next = { ...spec, unknown: spec.unknown !== true };
    return this.#declare(redeclare(resource, next as unknown as Json, this.#options()));
  }

  #moveAccounts(): Promise<unknown> | undefined {
    const { random, swarm } = this.#cast;
    const resource = this.#resource(["SimSet", "SimZone"]);
    const spec = resource && specOf(resource);
    if (resource === undefined || spec === undefined) return undefined;
    const all = accountIds(swarm, resource.organizationId);
    const accounts = all.filter(() => random.chance(0.6));
    const next = { ...spec, accounts: accounts.length === 0 ? all.slice(0, 1) : accounts };
    return this.#declare(redeclare(resource, next as unknown as Json, this.#options()));
  }

  #accountsOf(resource: ResourceRow): readonly (string | undefined)[] {
    const rows = [...this.#cast.store.state.tables.subjects.values()];
    return rows
      .filter((row) => row.resourceUid === resource.uid && row.detached === undefined)
      .map((row) => row.accountId);
  }
}
