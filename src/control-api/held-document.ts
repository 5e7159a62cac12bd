import { isoTime } from "../kernel/iso-time.ts";
import type { DeclareChange } from "../ports/declaring-store.ts";
import type { GovernanceChange, InboxView } from "../ports/governance-store.ts";
import type { FieldDifference, Verdict } from "../ports/records.ts";
import type { Caller } from "./access/caller.ts";
import { can } from "./access/can.ts";
import type { ApiContext } from "./context.ts";
import { organizationIdOf } from "./names.ts";
import { resourceLink } from "./resource-link.ts";
import type { HeldChangeDocument } from "./schemas/governance.ts";

/** Within this time somebody should have decided. */
export const answerWithinMs = 7 * 24 * 3_600_000;

interface About {
  readonly context: ApiContext;
  /** Undefined: it concerns the platform. */
  readonly organization: string | undefined;
  readonly caller: Caller;
}

/** Items of a plan that wait, with everything a person needs to decide. */
export function planDocument(view: InboxView, about: About): HeldChangeDocument {
  const { id, state, level, guard, digest } = view;
  const organization = about.organization ?? "";
  const { kinds } = about.context;
  return {
    id,
    type: "plan",
    state,
    level,
    guard,
    digest,
    verdict: verdictOf(view.verdict),
    openedAt: isoTime(view.openedAtMs),
    ...deadlineOf(about, view.openedAtMs + answerWithinMs, state),
    approval: approvalOf(about, {
      fourEyes: view.fourEyes,
      authors: view.authors,
      why: "declared or deleted part of it",
    }),
    blastRadius: { ...view.blastRadius, actions: { ...view.blastRadius.actions } },
    ...decisionOf(view),
    items: view.items.map(({ kind, name, scope, key, action, externalId, differences, reason }) => ({
      kind,
      name,
      ...(scope === undefined ? {} : { link: resourceLink(kinds, organization, { kind, name, scope }) }),
      key,
      action,
      ...(externalId === undefined ? {} : { externalId }),
      differences: differences.map(differenceOf),
      reason,
    })),
    truncated: view.blastRadius.items > view.items.length,
  };
}

/** A looser rule, a looser declaration or the end of a pause, in the same form. */
export function governanceDocument(change: GovernanceChange, about: About): HeldChangeDocument {
  const { id, state, type, scope, digest, author, reason, differences } = change;
  return {
    id,
    type,
    state,
    level: about.organization === undefined ? "platform" : "scope",
    scope,
    guard: change.verdict.guard,
    digest,
    verdict: verdictOf(change.verdict),
    openedAt: isoTime(change.openedAtMs),
    openedBy: author,
    ...(reason === undefined ? {} : { reason }),
    ...deadlineOf(about, change.expiresAtMs, state),
    approval: approvalOf(about, { fourEyes: change.fourEyes, authors: [author], why: "asked for it" }),
    blastRadius: {
      items: differences.length,
      resources: type === "declaration" ? 1 : 0,
      accounts: 0,
      actions: { [type]: differences.length },
    },
    ...decisionOf(change),
    items: [
      {
        ...changedThing(change, about),
        key: scope,
        action: type === "pause-end" ? "delete" : "update",
        differences: differences.map(differenceOf),
        reason: change.verdict.reason,
      },
    ],
    truncated: false,
  };
}

/** What is changed, and where it can be looked at: of a pause, what its end would set in motion. */
function changedThing({ type, scope, body }: GovernanceChange, { context, organization }: About) {
  if (type === "declaration") {
    const { kind, name, scope: place } = (body as unknown as DeclareChange).declare;
    return { kind, name, link: resourceLink(context.kinds, organization ?? "", { kind, name, scope: place }) };
  }
  if (type === "policy") return { kind: "Policy", name: scope };
  const { id } = body as { readonly id: string };
  const link =
    organization === undefined ? "/v1/freeze/preview" : `/v1/organizations/${organization}/pauses/${id}/preview`;
  return { kind: "Pause", name: scope, link };
}

function deadlineOf({ context }: About, deadlineMs: number, state: HeldChangeDocument["state"]) {
  return { deadline: isoTime(deadlineMs), overdue: state === "open" && context.clock.nowMs() > deadlineMs };
}

function approvalOf(
  { caller, organization }: About,
  rule: { readonly fourEyes: boolean; readonly authors: readonly string[]; readonly why: string },
): HeldChangeDocument["approval"] {
  const notBy = rule.fourEyes ? rule.authors.map((who) => ({ who, why: rule.why })) : [];
  const decision =
    organization === undefined
      ? can(caller, "platform.policy", "update", ["platform"])
      : can(caller, "organization.held_change", "execute", [
          "platform",
          `organization/${organizationIdOf(organization)}`,
        ]);
  const { name, type } = caller.principal;
  const kept = notBy.find(({ who }) => who === name);
  const you =
    type !== "person"
      ? { may: false, because: "only a person decides" }
      : kept !== undefined
        ? { may: false, because: `policy asks for another person: ${name} ${kept.why}` }
        : { may: decision.allowed, because: decision.because };
  return { fourEyes: rule.fourEyes, notBy, you };
}

function decisionOf(view: {
  readonly decidedBy: string | undefined;
  readonly decidedAtMs: number | undefined;
  readonly comment: string | undefined;
}) {
  return {
    ...(view.decidedBy === undefined ? {} : { decidedBy: view.decidedBy }),
    ...(view.decidedAtMs === undefined ? {} : { decidedAt: isoTime(view.decidedAtMs) }),
    ...(view.comment === undefined ? {} : { comment: view.comment }),
  };
}

export function verdictOf(verdict: Verdict) {
  return { ...verdict, numbers: { ...verdict.numbers }, keys: [...verdict.keys] };
}

export function differenceOf({ field, wanted, seen }: FieldDifference) {
  return { field, ...(wanted === undefined ? {} : { wanted }), ...(seen === undefined ? {} : { seen }) };
}
