import { isoTime } from "../../kernel/iso-time.ts";
import type { Kind } from "../../kernel/kind.ts";
import type { Change, ChangeRefusal, FourEyesRefusal, InvalidReference } from "../../ports/declaring-store.ts";
import type { ApiContext } from "../context.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import { Problem } from "../problem.ts";
import { fourEyesHeld, holdDeclaration } from "../rule-proposals.ts";
import type { ProblemDocument } from "../schemas/common.ts";
import { declarationsOf } from "./declarations.ts";
import { changedFields, changesBetween, fieldsOf } from "./fields.ts";
import { type Named, notFound, placeOf } from "./place.ts";
import { preconditionRequired } from "./preconditions.ts";

export interface RefusedChange {
  readonly kind: Kind;
  readonly parameters: Named;
  readonly change: Change;
  readonly refusal: ChangeRefusal;
}

/** Why a change was not made, in words and as data. */
export async function changeRefused(context: ApiContext, refused: RefusedChange): Promise<Problem> {
  const { kind, parameters, refusal } = refused;
  const about = `${kind.kind}/${parameters.name}`;
  switch (refusal.result) {
    case "conflict":
      return await revisionConflict(context, { ...refused, refusal });
    case "being-deleted":
      return new Problem("BEING_DELETED", `${about} is being deleted: wait until it is gone, then declare it again`);
    case "not-found":
      return notFound(kind, parameters.name);
    case "references":
      return referencesInvalid(about, refusal.invalid);
    case "in-use":
      return inUse(about, refusal);
    case "quota": {
      const { used, most } = refusal;
      return new Problem(
        "QUOTA_EXCEEDED",
        `The organization has ${used} ${kind.plural} and may have ${most}: delete some, or ask an operator to raise the quota`,
        { quota: { kind: refusal.kind, limit: most, used } },
      );
    }
    case "four-eyes":
      return await otherEyesNeeded(context, { ...refused, refusal });
    case "not-approved":
      return new Problem("HELD_CHANGE_CLOSED", `What changes ${about} is not approved, or not any more`);
  }
}

/** It waits for another person, whole: a declaration is never half made. */
async function otherEyesNeeded(
  context: ApiContext,
  { kind, parameters, change, refusal }: RefusedChange & { readonly refusal: FourEyesRefusal },
): Promise<Problem> {
  if (change.action !== "declare") return new Problem("INTERNAL", "A deletion was held for loosening a rule");
  const { organizationId, scope, name } = change.declare;
  const view = await context.reads.getResource({ organizationId, scope, kind: kind.kind, name });
  // Somebody changed it since: then it is not what would be allowed.
  if (view?.revision !== refusal.revision)
    return await changeRefused(context, {
      kind,
      parameters,
      change,
      refusal: { result: "conflict", revision: view?.revision ?? 0, uid: view?.resource.uid },
    });
  return fourEyesHeld(await holdDeclaration(context, change, { ...refusal, fields: changedFields(change, view) }));
}

function referencesInvalid(about: string, invalid: readonly InvalidReference[]): Problem {
  const errors = invalid.map(({ pointer, kind, name, because }) => ({
    pointer,
    message:
      because === "missing"
        ? `there is no ${kind}/${name} in its scope: declare it first`
        : `${kind}/${name} is being deleted: nothing new may refer to it`,
  }));
  return new Problem("REFERENCE_INVALID", `${about}: ${errors.map(({ message }) => message).join("; ")}`, { errors });
}

function inUse(about: string, refusal: Extract<ChangeRefusal, { readonly result: "in-use" }>): Problem {
  const names = refusal.users.map(({ kind, name }) => `${kind}/${name}`);
  const rest = refusal.more ? " and more" : "";
  const parts = refusal.users.every(({ part }) => part);
  const todo = parts
    ? "Delete them first, or say that they may stay without it: confirm the number of things outside that go with it (confirm=N), or leave those where they are (orphan=true)"
    : "Change or delete them first";
  return new Problem("IN_USE", `${about} is used by ${names.join(", ")}${rest}. ${todo}`, {
    users: refusal.users.map(({ kind, name, scope }) => ({ kind, name, scope: scopeText(scope) })),
  });
}

export function scopeText(scope: string): string {
  const { project, workspace } = scopeNames(scope);
  return [project, workspace].filter((name) => name !== undefined).join("/");
}

type Conflict = RefusedChange & { readonly refusal: Extract<ChangeRefusal, { readonly result: "conflict" }> };

/** Somebody was faster: says who, when, and which fields have changed since the revision that was expected. */
async function revisionConflict(context: ApiContext, conflict: Conflict): Promise<Problem> {
  const { kind, parameters, change, refusal } = conflict;
  const about = `${kind.kind}/${parameters.name}`;
  const { revision } = refusal;
  const expected = change.action === "declare" ? change.declare.ifRevision : change.ifRevision;
  if (revision === 0)
    return new Problem("REVISION_CONFLICT", `${about} does not exist. Create it with If-None-Match: *`, { revision });
  const changed = await changedSince(context, conflict, expected);
  const who = changed === undefined ? "" : `: ${changed.by} changed it at ${changed.at}${fieldsText(changed.fields)}`;
  const message = `${about} is at revision ${revision}, not at ${expected === 0 ? "none" : expected}${who}`;
  return new Problem("REVISION_CONFLICT", `${message}. Read it again, then repeat the change`, {
    revision,
    ...(changed === undefined ? {} : { changed }),
  });
}

/** To create what exists: who asked for a new one is told so; who said nothing is asked which revision is meant. */
export function existsAlready(kind: Kind, name: string, revision: number, said: "new" | "nothing"): Problem {
  if (said === "nothing") return preconditionRequired(kind, name, "replace");
  return new Problem("ALREADY_EXISTS", `${kind.kind}/${name} exists already: read it, then replace it with If-Match`, {
    revision,
  });
}

async function changedSince(
  context: ApiContext,
  { kind, parameters }: Conflict,
  expected: number | undefined,
): Promise<NonNullable<ProblemDocument["changed"]> | undefined> {
  const { organizationId, scope } = placeOf(parameters);
  const view = await context.reads.getResource({ organizationId, scope, kind: kind.kind, name: parameters.name });
  if (view === undefined) return undefined;
  const { resource } = view;
  const { deletion } = resource;
  const by = deletion?.author.name ?? resource.author.name;
  const at = isoTime(deletion?.atMs ?? resource.declaredAtMs);
  const known = await declarationsOf(context, organizationId, view);
  const seen = known.find((declared) => declared.revision === expected);
  const now = known[0];
  const fields = seen === undefined || now === undefined ? [] : changesBetween(fieldsOf(seen), fieldsOf(now));
  return { by, at, fields: fields.map((field) => ({ ...field })), deleting: deletion !== undefined };
}

function fieldsText(fields: readonly { readonly pointer: string }[]): string {
  return fields.length === 0 ? "" : ` (${fields.map(({ pointer }) => pointer).join(", ")})`;
}
