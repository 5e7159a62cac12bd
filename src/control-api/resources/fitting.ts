import type { Kind, Surroundings } from "../../kernel/kind.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import type { DeclareChange } from "../../ports/declaring-store.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import type { Named } from "./place.ts";

type Linked = NonNullable<ReturnType<Surroundings["linked"]>>;

/** Whoever declares thousands of parts of one thing should not make us read it thousands of times. The loop looks again. */
const keptForMs = 1_000;
type Kept = Map<string, { readonly untilMs: number; readonly linked: Linked }>;
const kept = new WeakMap<ApiContext, Kept>();

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
  const { scope } = declare;
  const { organizationId } = declare;
  const errors = await kind.fits(declare.spec, {
    scope,
    linked: (target, called) => linked.get(`${target}/${called}`),
    publishes: (target) => context.kinds.get(target)?.publishes,
    account: async (called) => {
      const found = (await context.reads.listAccounts(organizationId)).find((account) => account.name === called);
      if (found === undefined) return undefined;
      return { provider: found.provider, capabilities: context.capabilities.get(found.provider) };
    },
    hasScope: async ({ project, workspace }) => {
      const all = (await context.reads.listScopes(organizationId)).map((one) => scopeNames(one.scope));
      return all.some((names) => names.project === project && names.workspace === workspace);
    },
  });
  if (errors.length === 0) return;
  throw new Problem("FIELDS_INVALID", `${kind.kind}/${name} cannot be there`, { errors: [...errors] });
}

async function linkedTo(
  context: ApiContext,
  organizationId: string,
  { scope, kind, name }: { readonly scope: string; readonly kind: string; readonly name: string },
): Promise<Linked | undefined> {
  const memory: Kept = kept.get(context) ?? new Map();
  kept.set(context, memory);
  const key = `${organizationId} ${scope} ${kind} ${name}`;
  const known = memory.get(key);
  const nowMs = context.clock.monotonicMs();
  if (known !== undefined && known.untilMs > nowMs) return known.linked;
  const linked = await readLinked(context, organizationId, { scope, kind, name });
  // Few are in use at a time; whoever walks through very many begins anew now and then.
  if (memory.size >= 1_000) memory.clear();
  if (linked !== undefined) memory.set(key, { untilMs: nowMs + keptForMs, linked });
  return linked;
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
