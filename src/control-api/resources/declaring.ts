import { type Kind, parseSpec } from "../../kernel/kind.ts";
import type { ChangeDone, DeclareChange } from "../../ports/declaring-store.ts";
import type { Json } from "../../ports/json.ts";
import type { ResourceView } from "../../ports/read-store.ts";
import type { Principal } from "../../ports/records.ts";
import { StoreError } from "../../store/errors.ts";
import type { Caller } from "../access/caller.ts";
import { can } from "../access/can.ts";
import { requireCreatable } from "../access/organization-status.ts";
import { scopePathOf } from "../access/scope-path.ts";
import type { ApiContext } from "../context.ts";
import { accountIdOf } from "../names.ts";
import { Problem } from "../problem.ts";
import type { Manifest } from "../schemas/resource.ts";
import { requireScope } from "../scope.ts";
import { type Declaration, declarationOfView, fieldsOf, type Owners, ownersAfterReplace } from "./fields.ts";
import { namedResources, requireFitting } from "./fitting.ts";
import { type Named, placeOf, referencesOf } from "./place.ts";
import { changeRefused } from "./refusals.ts";
import { operationWith } from "./starting.ts";

export interface DeclareIntent {
  readonly parameters: Named;
  readonly declaration: Declaration;
  readonly author: Principal;
  readonly owners: Owners;
  /** 0: must not exist; undefined: whatever stands there. */
  readonly ifRevision: number | undefined;
}

/** What a manifest declares, once path and body agree. */
export function declarationOfManifest(kind: Kind, parameters: Named, manifest: Manifest): Declaration {
  const { metadata } = manifest;
  if (manifest.kind !== kind.kind || metadata.name !== parameters.name) {
    throw new Problem(
      "NAME_MISMATCH",
      `The path names ${kind.kind}/${parameters.name}, the body ${manifest.kind}/${metadata.name}`,
    );
  }
  // Not asking for protection is the same as not mentioning it: a scope above may still ask.
  const protect = metadata.protect === true ? true : undefined;
  return { spec: manifest.spec, labels: metadata.labels ?? {}, mode: metadata.mode, protect };
}

/** A declaration as the store takes it: parsed, with everything that it refers to. */
export async function declareChange(context: ApiContext, kind: Kind, intent: DeclareIntent): Promise<DeclareChange> {
  const { parameters, declaration, author, owners, ifRevision } = intent;
  const { organizationId, scope } = placeOf(parameters);
  const { labels, mode, protect } = declaration;
  const parsed = parsedSpec(kind, parameters.name, declaration.spec);
  if (kind.modeRequired && mode === undefined) {
    const message = `A ${kind.kind} exists outside already, so its mode has no default: name one. Begin with "observe"`;
    throw new Problem("MODE_REQUIRED", message, {
      errors: [{ pointer: "/metadata/mode", message: 'must be "observe", "propose" or "enforce"' }],
    });
  }
  const references = referencesOf(kind, parsed, parameters);
  const named = namedResources(context, organizationId, references);
  const spec = kind.completed === undefined ? parsed : await kind.completed(parsed, named);
  const links = references
    .filter(({ part }) => part)
    .map(({ kind: target, name, scope: where }) => ({ kind: target, name, scope: where }));
  return {
    action: "declare",
    declare: {
      uid: context.ids.next(),
      organizationId,
      scope,
      kind: kind.kind,
      name: parameters.name,
      spec: spec as Json,
      labels,
      author,
      fieldOwners: owners,
      ifRevision,
      mode,
      protect,
      accounts: accountsOf(kind, spec, parameters),
      links,
    },
    references,
    pooled: pooledOf(kind, spec, parameters),
    starts: operationWith(context, kind, { spec: spec as Json, ends: false, author }),
  };
}

/** Who owns what after a replacement, or a first declaration. */
export function ownersOf(declaration: Declaration, standing: ResourceView | undefined, manager: string): Owners {
  const before = standing === undefined ? new Map() : fieldsOf(declarationOfView(standing));
  return ownersAfterReplace(fieldsOf(declaration), before, standing?.fieldOwners ?? {}, manager);
}

/** Makes one declaration, or says why not. */
export async function makeDeclaration(
  context: ApiContext,
  kind: Kind,
  parameters: Named,
  change: DeclareChange,
  keep?: Parameters<ApiContext["declaring"]["change"]>[0]["keep"],
): Promise<Extract<ChangeDone, { readonly resource: unknown }>> {
  const { organizationId } = change.declare;
  await requireFitting(context, kind, parameters, change);
  const answer = await context.declaring
    .change({ organizationId, changes: [change], keep })
    .catch((thrown: unknown) => placeUnknown(context, kind, parameters, change, thrown));
  if (!answer.made) throw await changeRefused(context, { kind, parameters, change, refusal: answer.refusal });
  return declarationDone(answer.done);
}

export function declarationDone([done]: readonly ChangeDone[]): Extract<ChangeDone, { readonly resource: unknown }> {
  if (done === undefined || !("resource" in done)) throw new Problem("INTERNAL", "A declaration was not answered");
  return done;
}

/** The store says that something is missing; the names in the request say what. */
export async function placeUnknown(
  context: ApiContext,
  kind: Kind,
  parameters: Named,
  change: DeclareChange,
  thrown: unknown,
): Promise<never> {
  if (!(thrown instanceof StoreError) || thrown.code !== "NOT_FOUND") throw thrown;
  const { organization, organizationId } = await requireScope(context, parameters);
  const known = new Set((await context.reads.listAccounts(organizationId)).map(({ name }) => name));
  const name = kind.accounts(change.declare.spec).find((account) => !known.has(account));
  if (name === undefined) throw thrown;
  const message = `There is no account "${name}" in organization "${organization}". Add it with: setpoint account add ${name}`;
  throw new Problem("ACCOUNT_UNKNOWN", message, {
    errors: [{ pointer: "/spec", message: `names the account "${name}", which does not exist` }],
  });
}

/** Replacing and creating are different rights, and a path for the one may turn out to do the other. */
export async function requireCreate(context: ApiContext, caller: Caller, kind: Kind, parameters: Named): Promise<void> {
  const decision = can(caller, kind.permission, "create", scopePathOf(parameters));
  if (decision.allowed) return await requireCreatable(context, placeOf(parameters).organizationId);
  throw new Problem(
    "FORBIDDEN",
    `${caller.principal.name} may not create a ${kind.kind} here: ${decision.because}. Ask an owner for a role that has it`,
  );
}

function parsedSpec(kind: Kind, name: string, spec: Json): unknown {
  const parsed = parseSpec(kind, spec);
  if (parsed.ok) return parsed.spec;
  throw new Problem("FIELDS_INVALID", `The spec of ${kind.kind}/${name} is not valid`, { errors: parsed.errors });
}

function pooledOf(kind: Kind, spec: unknown, { organization }: Named): DeclareChange["pooled"] {
  const pooled = kind.pooled?.(spec);
  if (pooled === undefined) return undefined;
  const { account: name, provider } = pooled;
  return { id: accountIdOf(organization, name), name, provider };
}

function accountsOf(kind: Kind, spec: unknown, { organization }: Named): readonly (string | undefined)[] {
  if (kind.loop === undefined) return [];
  const names = kind.accounts(spec);
  return names.length === 0 ? [undefined] : names.map((name) => accountIdOf(organization, name));
}
