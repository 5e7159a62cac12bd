import type { Kind, NamedResources, Surroundings } from "../../kernel/kind.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import type { DeclareChange } from "../../ports/declaring-store.ts";
import type { ApiContext } from "../context.ts";
import { ForAMoment } from "../for-a-moment.ts";
import { Problem } from "../problem.ts";
import type { Named } from "./place.ts";

type Linked = NonNullable<ReturnType<Surroundings["linked"]>>;
type Account = NonNullable<Awaited<ReturnType<Surroundings["account"]>>>;

/** Whoever declares thousands of parts of one thing should not make us read it thousands of times. The loop looks again. */
const keptForMs = 1_000;
interface Kept {
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
  return { provider: found.provider, capabilities: context.capabilities.get(found.provider) };
}

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
