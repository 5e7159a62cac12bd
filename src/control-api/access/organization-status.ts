import type { OrganizationStatus } from "../../ports/member-store.ts";
import type { ApiContext } from "../context.ts";
import { organizationIdOf } from "../names.ts";
import { Problem } from "../problem.ts";
import type { Route } from "../route.ts";
import type { ScopeParameters } from "../schemas/common.ts";

const keptForMs = 2_000;
const keptAtMost = 10_000;

interface Kept {
  readonly askedAtMs: number;
  readonly status: Promise<OrganizationStatus | undefined>;
}

const keptOf = new WeakMap<ApiContext["members"], Map<string, Kept>>();

/**
 * The one check before anything is created in an organization. Reads and deletes go on whatever its status. Asked once
 * in two seconds per organization, so that declaring many resources does not ask as often.
 */
export async function requireCreatable(
  context: Pick<ApiContext, "members" | "clock">,
  organizationId: string,
): Promise<void> {
  const status = await statusOf(context, organizationId);
  // What does not exist is refused by whoever looks for it next, in the words of that.
  if (status === undefined) return;
  const { verification, state, reason } = status;
  if (verification === "verified" && state === "active") return;
  throw new Problem(
    "ENTITY_STATUS",
    `Nothing can be created in this organization: its verification is "${verification}" and its state is "${state}"${reason === "" ? "" : ` (${reason})`}. ${wayOut(status)}. What is there can still be read and deleted`,
  );
}

/** At the door of every route that creates; those that create by another name ask themselves. */
export async function requireStatus(
  context: Pick<ApiContext, "members" | "clock">,
  { need, inAnyStatus }: Route,
  names: unknown,
): Promise<void> {
  if (need.at !== "path" || need.action !== "create" || inAnyStatus === true) return;
  await requireCreatable(context, organizationIdOf((names as ScopeParameters).organization));
}

function wayOut({ verification, state }: OrganizationStatus): string {
  const ways: Readonly<Record<typeof verification, string | undefined>> = {
    in_setup: 'Ask for verification with "setpoint org submit"',
    pending: "Wait for an operator of the platform to verify it",
    waitlist: "It is on the waiting list: an operator of the platform will verify it",
    blocked: "Ask an operator of the platform why it is blocked",
    verified: undefined,
  };
  const active = state === "active" ? undefined : "Ask an operator of the platform to make it active";
  return [ways[verification], active].filter((way) => way !== undefined).join(". ");
}

/** After a change through this process. Others see it within two seconds. */
export function forgetStatus(context: Pick<ApiContext, "members">, organizationId: string): void {
  keptOf.get(context.members)?.delete(organizationId);
}

function statusOf(
  { members, clock }: Pick<ApiContext, "members" | "clock">,
  organizationId: string,
): Promise<OrganizationStatus | undefined> {
  const kept = keptOf.get(members) ?? new Map<string, Kept>();
  keptOf.set(members, kept);
  const askedAtMs = clock.monotonicMs();
  const known = kept.get(organizationId);
  if (known !== undefined && askedAtMs - known.askedAtMs < keptForMs) return known.status;
  const status = members.organization(organizationId);
  if (kept.size >= keptAtMost) kept.clear();
  kept.set(organizationId, { askedAtMs, status });
  status.catch(() => kept.delete(organizationId));
  return status;
}
