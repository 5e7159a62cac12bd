import type { z } from "zod";
import { digestOf } from "../kernel/hash.ts";
import type { DeclareChange } from "../ports/declaring-store.ts";
import type { GovernanceChange, Proposal } from "../ports/governance-store.ts";
import type { Json } from "../ports/json.ts";
import type { FieldDifference, Pause, Principal, ScopePolicy, Verdict } from "../ports/records.ts";
import { scopePathOf } from "./access/scope-path.ts";
import type { ApiContext } from "./context.ts";
import { answerWithinMs } from "./held-document.ts";
import { scopeNames } from "../kernel/scope-names.ts";
import { pauseScopeOf } from "./pause-scope.ts";
import { aboveCeilings, type PolicyChange, policyChange } from "./policy-change.ts";
import { Problem } from "./problem.ts";
import type { FieldChange } from "./resources/fields.ts";
import type { proposalOfRulesSchema } from "./schemas/governance.ts";

export interface PolicyPlace {
  /** Undefined: the platform. */
  readonly organizationId: string | undefined;
  readonly organization: string | undefined;
  readonly scope: string;
}

export interface WeighedPolicy extends PolicyChange {
  readonly version: number;
  readonly digest: string;
  readonly policy: ScopePolicy;
}

/** What a new policy would change, and the digest that an approval of it binds to. Above a ceiling it is refused. */
export async function weighPolicy(
  context: ApiContext,
  place: PolicyPlace,
  body: Omit<ScopePolicy, "scope">,
): Promise<WeighedPolicy> {
  const { organizationId, scope } = place;
  const policy: ScopePolicy = { scope, ...body };
  const above = (await policiesOnPath(context, place)).filter((entry) => entry.scope !== scope);
  const [worst] = aboveCeilings(above, policy);
  if (worst !== undefined) {
    const { limit, asked, ceiling, from } = worst;
    const reason = `limit ${limit} of ${asked} is beyond the ceiling of ${ceiling} that ${from} sets`;
    throw new Problem("GUARD_REFUSED", `${reason}: stay below it, or have the ceiling raised first`, {
      verdict: { guard: "delete-budget", answer: "refuse", reason, numbers: { asked, ceiling }, keys: [] },
    });
  }
  const stands = await context.governance.policy(organizationId, scope);
  const version = stands?.version ?? 0;
  const change = policyChange(above, stands?.policy ?? { scope }, policy);
  return { ...change, policy, version, digest: digestOf(["policy", organizationId ?? "platform", version, policy]) };
}

/** What the scopes from the platform down to this one say, in that order. */
export async function policiesOnPath(context: ApiContext, place: PolicyPlace): Promise<readonly ScopePolicy[]> {
  const { organizationId, organization, scope } = place;
  const platform = await context.governance.policy(undefined, "platform");
  if (organizationId === undefined || organization === undefined)
    return platform === undefined ? [] : [platform.policy];
  const found = new Map((await context.reads.listPolicies(organizationId)).map((policy) => [policy.scope, policy]));
  const path = scopePathOf({ organization, ...scopeNames(scope) });
  return path.flatMap((name) => found.get(name) ?? []);
}

/** What loosens a rule waits for a person. */
export async function holdPolicy(
  context: ApiContext,
  place: PolicyPlace,
  weighed: WeighedPolicy,
  asked: { readonly author: Principal; readonly reason: string | undefined },
): Promise<GovernanceChange> {
  const { loosened, policy, version, digest } = weighed;
  const guard = loosened.some(({ field }) => field === "/mode")
    ? "mode"
    : loosened.some(({ field }) => field === "/protect")
      ? "protection"
      : "delete-budget";
  return await context.governance.propose({
    ...proposed(place, `${place.scope} would let more through: ${words(loosened)}`, guard, weighed.differences),
    type: "policy",
    digest,
    body: JSON.parse(JSON.stringify(policy)) as Json,
    baseVersion: version,
    ...asked,
  });
}

type Asked = z.output<typeof proposalOfRulesSchema>;

/** What whoever may not decide can ask for. */
export async function proposeRules(
  context: ApiContext,
  place: { readonly organizationId: string; readonly organization: string; readonly author: Principal },
  asked: Asked,
): Promise<GovernanceChange> {
  const { organizationId, organization, author } = place;
  const { reason } = asked;
  if (asked.type === "pause-end") {
    const pause = (await context.reads.listPauses(organizationId)).find(({ id }) => id === asked.pause);
    if (pause === undefined || pause.scope === "platform")
      throw new Problem("NOT_FOUND", `There is no pause ${asked.pause} of this organization in force`);
    return await holdPauseEnd(context, { organizationId, pause }, { author, reason });
  }
  const scope = await pauseScopeOf(context, organization, asked.on);
  if (!/^(organization|project|workspace)\//.test(scope))
    throw new Problem(
      "FIELDS_INVALID",
      `"${asked.on}" has no policy: name the organization, a project or a workspace`,
      {
        errors: [{ pointer: "/on", message: "must be organization, projects/NAME or projects/NAME/workspaces/NAME" }],
      },
    );
  const weighed = await weighPolicy(
    context,
    { organizationId, organization, scope },
    asked.policy as Omit<ScopePolicy, "scope">,
  );
  if (weighed.differences.length === 0) throw new Problem("FIELDS_INVALID", `${scope} says just that already`);
  const held = weighed.loosened.length > 0 ? weighed : { ...weighed, loosened: weighed.differences };
  return await holdPolicy(context, { organizationId, organization, scope }, held, { author, reason });
}

/** The end of a pause waits for a person; of another one than who asks, where policy says so. */
export async function holdPauseEnd(
  context: ApiContext,
  { organizationId, pause }: { readonly organizationId: string | undefined; readonly pause: Pause },
  asked: { readonly author: Principal; readonly reason: string | undefined },
): Promise<GovernanceChange> {
  const { id, scope, level } = pause;
  const words = `the pause of ${level} at ${scope} by ${pause.author} would end: ${pause.reason}`;
  const differences = [{ field: "/level", wanted: undefined, seen: level }];
  return await context.governance.propose({
    ...proposed({ organizationId, scope }, words, "pause", differences),
    type: "pause-end",
    digest: digestOf(["pause-end", organizationId ?? "platform", id]),
    body: { id },
    baseVersion: 0,
    ...asked,
  });
}

/** A declaration that loosens its resource's own rules waits for another person: all of it, tied to what stands now. */
export async function holdDeclaration(
  context: ApiContext,
  change: DeclareChange,
  about: {
    readonly uid: string;
    readonly revision: number;
    readonly loosened: readonly FieldDifference[];
    readonly fields: readonly FieldChange[];
  },
): Promise<GovernanceChange> {
  const { uid, revision, loosened, fields } = about;
  const { organizationId, kind, name, author, spec, labels, mode, protect } = change.declare;
  const scope = `resource/${uid}`;
  const guard = loosened.some(({ field }) => field === "/metadata/mode") ? "mode" : "protection";
  const differences = fields.map(({ pointer, before, after }) => ({ field: pointer, wanted: after, seen: before }));
  const declare = { ...change.declare, ifRevision: revision };
  return await context.governance.propose({
    ...proposed(
      { organizationId, scope },
      `${kind}/${name} would let more through: ${words(loosened)}`,
      guard,
      differences,
    ),
    type: "declaration",
    digest: digestOf(["declaration", organizationId, uid, revision, { spec, labels, mode, protect }]),
    body: JSON.parse(JSON.stringify({ ...change, declare })) as Json,
    baseVersion: revision,
    author,
    reason: author.via?.reason,
  });
}

/** The answer to who may ask for something and not allow it alone. */
export function fourEyesHeld({ id, digest }: GovernanceChange): Problem {
  return new Problem(
    "FOUR_EYES",
    `Policy asks for another person's approval: it waits as held change ${id} with digest ${digest}, and nothing is changed until then`,
    { digest, heldChange: id },
  );
}

function words(differences: readonly FieldDifference[]): string {
  return differences.map(({ field, seen, wanted }) => `${field} from ${shown(seen)} to ${shown(wanted)}`).join(", ");
}

function proposed(
  { organizationId, scope }: Pick<PolicyPlace, "organizationId" | "scope">,
  reason: string,
  guard: Verdict["guard"],
  differences: readonly FieldDifference[],
): Pick<Proposal, "organizationId" | "scope" | "verdict" | "differences" | "forMs"> {
  const verdict: Verdict = { guard, answer: "hold", reason, numbers: { fields: differences.length }, keys: [] };
  return { organizationId, scope, verdict, differences, forMs: answerWithinMs };
}

function shown(value: Json | undefined): string {
  return value === undefined || value === null ? "nothing" : JSON.stringify(value);
}
