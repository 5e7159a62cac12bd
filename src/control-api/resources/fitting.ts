import type { Kind, NamedResources, Surroundings } from "../../kernel/kind.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import type { DeclareChange } from "../../ports/declaring-store.ts";
import type { ApiContext } from "../context.ts";
import type { SubjectView } from "../../ports/read-store.ts";
import { verdictAge } from "../verdict-age.ts";
import { ForAMoment } from "../for-a-moment.ts";
import { Problem } from "../problem.ts";
import type { Named } from "./place.ts";

type Linked = NonNullable<ReturnType<Surroundings["linked"]>>;
type Account = NonNullable<Awaited<ReturnType<Surroundings["account"]>>>;

/** Whoever declares thousands of parts of one thing should not make us read it thousands of times. The loop looks again. */
const keptForMs = 1_000;
type Reports = Awaited<ReturnType<NonNullable<Surroundings["reported"]>>>;
interface Kept {
  readonly reports: ForAMoment<Reports>;
  readonly linked: ForAMoment<Linked>;
  readonly accounts: ForAMoment<Account>;
}
const keptOf = new WeakMap<ApiContext, Kept>();

/** Refuses what its kind says cannot be where it is declared. */
export async function requireFitting(
  context: ApiContext,
  kind: Kind,
  { name }: Named,
  { declare, references }: DeclareChange,
): Promise<void> {
  if (kind.fits === undefined) return;
  const parts = references.filter(({ part }) => part);
  const linked = new Map<string, Linked | undefined>();
  for (const part of parts)
    linked.set(`${part.kind}/${part.name}`, await linkedTo(context, declare.organizationId, part));
  const { scope, organizationId } = declare;
  const errors = await kind.fits(declare.spec, {
    scope,
    named: namedResources(context, organizationId, references),
    linked: (target, called) => linked.get(`${target}/${called}`),
    publishes: (target) => context.kinds.get(target)?.publishes,
    account: (called) =>
      kept(context).accounts.get(`${organizationId} ${called}`, () => readAccount(context, organizationId, called)),
    standing: async () => {
      const view = await context.reads.getResource({ organizationId, scope, kind: kind.kind, name });
      return view === undefined || view.resource.deletion !== undefined ? undefined : view.resource.spec;
    },
    reported: (target, account) =>
      kept(context).reports.get(`${organizationId} ${target} ${account}`, () =>
        readReports(context, organizationId, { kind: target, account }),
      ) as Promise<Reports>,
    hasScope: async ({ project, workspace }) => {
      const all = (await context.reads.listScopes(organizationId)).map((one) => scopeNames(one.scope));
      return all.some((names) => names.project === project && names.workspace === workspace);
    },
    quota: async (target) => {
      const { limits } = await context.declaring.quotas(organizationId);
      return limits.find((limit) => limit.kind === target)?.most;
    },
  });
  if (errors.length === 0) return;
  throw new Problem("FIELDS_INVALID", `${kind.kind}/${name} cannot be there`, { errors: [...errors] });
}

/** The resources that one refers to, read as they stand. */
export function namedResources(
  context: Pick<ApiContext, "reads">,
  organizationId: string,
  references: DeclareChange["references"],
): NamedResources {
  return async (kind, name) => {
    const target = references.find((reference) => reference.kind === kind && reference.name === name);
    if (target === undefined) return undefined;
    const view = await context.reads.getResource({ organizationId, kind, name, scope: target.scope });
    if (view === undefined) return undefined;
    return { spec: view.resource.spec, report: view.subjects[0]?.status?.report };
  };
}

function kept(context: ApiContext): Kept {
  const known = keptOf.get(context);
  if (known !== undefined) return known;
  const { clock } = context;
  const made = {
    linked: new ForAMoment<Linked>(clock, keptForMs),
    accounts: new ForAMoment<Account>(clock, keptForMs),
    reports: new ForAMoment<Reports>(clock, keptForMs),
  };
  keptOf.set(context, made);
  return made;
}

async function linkedTo(
  context: ApiContext,
  organizationId: string,
  target: { readonly scope: string; readonly kind: string; readonly name: string },
): Promise<Linked | undefined> {
  const { scope, kind, name } = target;
  const key = `${organizationId} ${scope} ${kind} ${name}`;
  return await kept(context).linked.get(key, () => readLinked(context, organizationId, { scope, kind, name }));
}

async function readAccount(context: ApiContext, organizationId: string, name: string): Promise<Account | undefined> {
  const found = (await context.reads.listAccounts(organizationId)).find((account) => account.name === name);
  if (found === undefined) return undefined;
  const { provider, fingerprint } = found;
  return { provider, fingerprint, capabilities: context.capabilities.get(provider) };
}

/** An account is watched once, or a few times. */
const mostWatchers = 100;

async function readReports(
  context: ApiContext,
  organizationId: string,
  { kind, account }: { readonly kind: string; readonly account: string },
): Promise<Reports> {
  const accounts = await context.reads.listAccounts(organizationId);
  const accountId = accounts.find(({ name }) => name === account)?.id;
  const page = await context.reads.listPage({
    ...everything,
    organizationId,
    scope: `organization/${organizationId}`,
    kind,
    limit: mostWatchers,
  });
  const { nowMs } = page.position;
  const everySeconds = context.kinds.get(kind)?.loop?.everySeconds ?? 0;
  const isBelieved = ({ status, confirmedAtMs, dueAtMs }: SubjectView) =>
    status?.failing === false &&
    verdictAge({ confirmedAtMs, nowMs, everySeconds }).fresh &&
    (dueAtMs === undefined || dueAtMs > nowMs);
  const reports = page.views
    .flatMap(({ subjects }) => subjects)
    .filter((subject) => subject.accountId === accountId && isBelieved(subject))
    .flatMap(({ status }) => (status?.report === undefined ? [] : [status.report]));
  return { nowMs, reports };
}

const everything = {
  labels: [],
  namePrefix: undefined,
  mode: undefined,
  deleting: false,
  ready: undefined,
  drifted: undefined,
  held: undefined,
  sort: "name",
  descending: false,
  after: undefined,
} as const;

async function readLinked(
  context: ApiContext,
  organizationId: string,
  target: { readonly scope: string; readonly kind: string; readonly name: string },
): Promise<Linked | undefined> {
  const view = await context.reads.getResource({ organizationId, ...target });
  const accountId = view?.subjects[0]?.accountId;
  if (view === undefined) return undefined;
  const accounts = accountId === undefined ? [] : await context.reads.listAccounts(organizationId);
  const provider = accounts.find(({ id }) => id === accountId)?.provider;
  return {
    spec: view.resource.spec,
    scope: view.resource.scope,
    capabilities: provider === undefined ? undefined : context.capabilities.get(provider),
  };
}
