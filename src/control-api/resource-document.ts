import { isoTime } from "../kernel/iso-time.ts";
import { type Kind, parseSpec } from "../kernel/kind.ts";
import { effectivePolicy } from "../kernel/policy.ts";
import type { ResourceView, SubjectView } from "../ports/read-store.ts";
import type { ScopePolicy } from "../ports/records.ts";
import { pathOfScope, scopeOfLink } from "./access/scope-path.ts";
import type { ApiContext } from "./context.ts";
import { organizationIdOf } from "./names.ts";
import { scopeNames } from "../kernel/scope-names.ts";
import { apiVersion } from "./schemas/common.ts";
import type { ConditionView, ResourceDocument } from "./schemas/resource.ts";
import { conditionView, mergedConditions, subjectConditions } from "./subject-conditions.ts";

/** What holds for a part because it holds for its whole. What waits there may be about another part. */
const handedOn: ReadonlySet<string> = new Set(["Ready", "Synced", "Fresh", "Guard/pause"]);

/** Makes documents of one organization's resources; what they share (account names, policies, linked resources) is read once. */
export class ResourceDocuments {
  readonly #context: Pick<ApiContext, "reads" | "kinds" | "clock">;
  readonly #organization: string;
  #accountNames: Promise<ReadonlyMap<string, string>> | undefined;
  #policies: Promise<ReadonlyMap<string, ScopePolicy>> | undefined;
  readonly #isOfNew: boolean;
  readonly #linked = new Map<string, Promise<ResourceView | undefined>>();

  /** `newAccountNames` by id: of what this very request makes, about which nothing is looked up. */
  constructor(
    context: Pick<ApiContext, "reads" | "kinds" | "clock">,
    organization: string,
    newAccountNames?: ReadonlyMap<string, string>,
  ) {
    this.#context = context;
    this.#organization = organization;
    this.#isOfNew = newAccountNames !== undefined;
    if (newAccountNames !== undefined) this.#accountNames = Promise.resolve(newAccountNames);
  }

  /** Several at once: what they are part of is read together. */
  async documents(kind: Kind, views: readonly ResourceView[]): Promise<readonly ResourceDocument[]> {
    if (kind.loop === undefined) await this.#readLinked(views.flatMap((view) => this.linksOf(kind, view)));
    return await Promise.all(views.map((view) => this.document(kind, view)));
  }

  async #readLinked(names: readonly LinkedName[]): Promise<void> {
    const unknown = new Map(names.filter((name) => !this.#linked.has(keyOf(name))).map((name) => [keyOf(name), name]));
    if (unknown.size === 0) return;
    const organizationId = organizationIdOf(this.#organization);
    const views = await this.#context.reads.getResources({ organizationId, names: [...unknown.values()] });
    const found = new Map(views.map((view) => [keyOf(view.resource), view]));
    for (const key of unknown.keys()) this.#linked.set(key, Promise.resolve(found.get(key)));
  }

  async document(kind: Kind, view: ResourceView): Promise<ResourceDocument> {
    const { resource } = view;
    const names = await this.accountNames();
    const subjects = view.subjects.map((subject) => this.#subject(kind, view, subject, names));
    const links = kind.loop === undefined ? this.linksOf(kind, view) : [];
    const partOf = links.map(({ kind: target, name }) => ({ kind: target, name }));
    const own = subjects.map((subject) => subject.conditions);
    const conditions = kind.loop === undefined ? await this.#linkedConditions(view, links) : mergedConditions(own);
    const reported = await this.#reportOf(kind, view, links);
    const wholes = kind.loop === undefined ? await Promise.all(links.map((link) => this.linked(link))) : [view];
    const { deletion } = resource;
    return {
      apiVersion,
      kind: resource.kind,
      metadata: {
        name: resource.name,
        organization: this.#organization,
        ...scopeNames(resource.scope),
        uid: resource.uid,
        generation: resource.generation,
        revision: view.revision,
        statusRevision: view.statusRevision,
        labels: { ...resource.labels },
        ...(view.mode === undefined ? {} : { mode: view.mode }),
        protect: view.protect,
        declaredBy: resource.author.name,
        declaredAt: isoTime(resource.declaredAtMs),
        ...(deletion === undefined
          ? {}
          : { deletion: { by: deletion.author.name, at: isoTime(deletion.atMs), orphan: deletion.orphan } }),
      },
      spec: resource.spec,
      status: {
        conditions: [...conditions, ...(reported?.conditions ?? []).map(conditionView)],
        subjects,
        partOf: [...partOf],
        ...optional("effectiveMode", await this.#modeOf(wholes)),
        ...optional("differences", differencesOf(wholes)),
        ...optional("confirmedAt", confirmedAt(wholes)),
        ...optional("report", reported?.report),
      },
    };
  }

  accountNames(): Promise<ReadonlyMap<string, string>> {
    this.#accountNames ??= this.#context.reads
      .listAccounts(organizationIdOf(this.#organization))
      .then((accounts) => new Map(accounts.map((account) => [account.id, account.name])));
    return this.#accountNames;
  }

  /** How far the loops that carry it out may go, after every scope above them has spoken. */
  async #modeOf(wholes: readonly (ResourceView | undefined)[]): Promise<ResourceDocument["status"]["effectiveMode"]> {
    if (this.#isOfNew) return undefined;
    this.#policies ??= this.#context.reads
      .listPolicies(organizationIdOf(this.#organization))
      .then((policies) => new Map(policies.map((policy) => [policy.scope, policy])));
    const byScope = await this.#policies;
    const policies = wholes.flatMap((whole) => {
      if (whole === undefined) return [];
      const { scope, uid } = whole.resource;
      const above = pathOfScope(this.#organization, scope).flatMap((entry) => byScope.get(entry) ?? []);
      return [...above, { scope: `resource/${uid}`, mode: whole.mode }];
    });
    if (policies.length === 0) return undefined;
    const { mode, modeFrom } = effectivePolicy(policies, undefined);
    return { mode, from: modeFrom };
  }

  /** What a resource is computed into, by its stored spec; a spec that stopped parsing names nothing. */
  linksOf(kind: Kind, { resource }: ResourceView): readonly LinkedName[] {
    const parsed = parseSpec(kind, resource.spec);
    if (!parsed.ok) return [];
    const path = pathOfScope(this.#organization, resource.scope);
    return kind.links(parsed.spec).map((link) => ({
      scope: scopeOfLink(link, path),
      kind: link.kind,
      name: link.name,
    }));
  }

  /** The resource that carries this one out, if it is declared. */
  linked(link: LinkedName): Promise<ResourceView | undefined> {
    const key = keyOf(link);
    const known = this.#linked.get(key);
    if (known !== undefined) return known;
    const { scope, kind, name } = link;
    const organizationId = organizationIdOf(this.#organization);
    const read = this.#context.reads.getResource({ organizationId, scope, kind, name });
    this.#linked.set(key, read);
    return read;
  }

  #subject(kind: Kind, view: ResourceView, subject: SubjectView, names: ReadonlyMap<string, string>) {
    const { status } = subject;
    const everySeconds = kind.loop?.everySeconds ?? 0;
    const about = { generation: view.resource.generation, everySeconds, nowMs: this.#context.clock.nowMs() };
    return {
      ...optional(
        "account",
        subject.accountId === undefined ? undefined : (names.get(subject.accountId) ?? subject.accountId),
      ),
      ...optional("observedGeneration", status?.observedGeneration),
      ...optional("differences", status?.differences),
      ...optional("owned", status?.owned),
      ...optional("lookedAt", timeOf(status?.lookedAtMs)),
      ...optional("confirmedAt", timeOf(subject.confirmedAtMs)),
      ...optional("convergedAt", timeOf(status?.convergedAtMs)),
      ...optional("dueAt", timeOf(subject.dueAtMs)),
      ...optional("heldBy", subject.holdOperationId),
      ...optional("report", status?.report),
      ...optional(
        "cycles",
        status?.cycles?.map(({ atMs, spentMs, ...cycle }) => ({
          at: isoTime(atMs),
          ...cycle,
          spentMs: { ...spentMs },
        })),
      ),
      conditions: [...subjectConditions(subject, about)],
    };
  }

  /** What the loops that carry it out report of this one. */
  async #reportOf(
    kind: Kind,
    { resource }: ResourceView,
    links: readonly LinkedName[],
  ): Promise<ReturnType<NonNullable<Kind["reportOf"]>>> {
    const [link] = links;
    if (kind.reportOf === undefined || link === undefined) return undefined;
    const whole = await this.linked(link);
    const status = whole?.subjects[0]?.status;
    const parsed = parseSpec(kind, resource.spec);
    if (whole === undefined || status === undefined || !parsed.ok) return undefined;
    return kind.reportOf(parsed.spec, { spec: whole.resource.spec, report: status.report, stale: status.stale });
  }

  /** A kind without a loop is as well as what carries it out. */
  async #linkedConditions(view: ResourceView, links: readonly LinkedName[]): Promise<readonly ConditionView[]> {
    const all = await Promise.all(links.map((link) => this.#conditionsOf(view.resource.scope, link)));
    return mergedConditions(all);
  }

  async #conditionsOf(own: string, link: LinkedName): Promise<readonly ConditionView[]> {
    const kind = this.#context.kinds.get(link.kind);
    const target = await this.linked(link);
    if (kind === undefined || target === undefined) {
      const message = `there is no ${link.kind}/${link.name} in this scope: declare it, or correct the spec`;
      return [{ type: "Ready", status: "False", reason: "NotFound", message }];
    }
    const { status } = await this.document(kind, target);
    return status.conditions
      .filter(({ type }) => handedOn.has(type))
      .map((condition) => ({ ...condition, message: `${link.kind}/${link.name}: ${wordsOf(condition, link, own)}` }));
  }
}

/** What another scope's loop says names what is declared there; whoever sees this scope alone is told the reason. */
function wordsOf({ message, reason }: ConditionView, { scope }: LinkedName, own: string): string {
  return scope === own ? message : reason;
}

export interface LinkedName {
  readonly scope: string;
  readonly kind: string;
  readonly name: string;
}

function keyOf({ scope, kind, name }: LinkedName): string {
  return `${scope} ${kind} ${name}`;
}

/** When all of it was last confirmed: the oldest speaks, and what was never looked at silences the others. */
function confirmedAt(wholes: readonly (ResourceView | undefined)[]): string | undefined {
  const times = wholes.flatMap((whole) => whole?.subjects.map(({ confirmedAtMs }) => confirmedAtMs) ?? [undefined]);
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 || known.length < times.length ? undefined : isoTime(Math.min(...known));
}

/** What differs in all of it; while one part was never looked at, nobody knows how much that is. */
function differencesOf(wholes: readonly (ResourceView | undefined)[]): number | undefined {
  const counts = wholes.flatMap((whole) => whole?.subjects.map(({ status }) => status?.differences) ?? [undefined]);
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 || known.length < counts.length ? undefined : known.reduce((sum, count) => sum + count, 0);
}

function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : isoTime(ms);
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [K in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [K in Name]?: Value };
}
