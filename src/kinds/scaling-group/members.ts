import { TerminalError } from "../../kernel/errors.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";
import type { HostSpec } from "../host/schema.ts";
import type { ScalingGroupSpec } from "./schema.ts";

/** What a member is kept at; the rest of a template counts when a member is made. */
const keptFields = ["labels", "networks", "firewalls", "drainSeconds"] as const;

/** A new member, as its Host is declared. */
export function newMember(group: string, spec: ScalingGroupSpec): HostSpec {
  return {
    ...spec.template,
    account: spec.account,
    group,
    power: "on",
    volumes: [],
    protect: false,
    adopt: false,
    drainSeconds: spec.drainSeconds,
  };
}

/** A member that is there, with what of the template is kept up to date in place. */
export function keptMember(group: string, spec: ScalingGroupSpec, member: HostSpec): HostSpec {
  const fresh = newMember(group, spec);
  return { ...member, ...Object.fromEntries(keptFields.map((field) => [field, fresh[field]])) };
}

/**
 * Names of new members: numbers above all that are in use. What somebody else turned out to have, such as those that still go, is
 * passed over in ever longer steps.
 */
export function newNames(
  group: string,
  { used, taken }: { readonly used: readonly string[]; readonly taken: ReadonlySet<string> },
  count: number,
): readonly string[] {
  const passed = Math.max(0, ...[...used, ...taken].map((name) => numberOf(group, name)));
  const highest = passed + 2 ** Math.min(Math.max(0, taken.size - 1), 10) - 1;
  const names = Array.from({ length: count }, (_, index) => `${group}-${highest + index + 1}`);
  const wrong = names.find((name) => !resourceNameSchema.safeParse(name).success);
  if (wrong === undefined) return names;
  throw new TerminalError(
    "SPEC_INVALID",
    `'${wrong}' is too long for the name of a Host: give the group a shorter name`,
  );
}

/** Who goes, in order. What is protected stays. Members that people named go last of the newest and first of the oldest. */
export function victimsOf(
  group: string,
  policy: ScalingGroupSpec["victims"],
  members: readonly { readonly name: string; readonly spec: Pick<HostSpec, "protect"> }[],
  count: number,
): readonly string[] {
  const ordered = members
    .filter(({ spec }) => !spec.protect)
    .map(({ name }) => ({ name, number: numberOf(group, name) }))
    .sort((left, right) => left.number - right.number || (left.name < right.name ? -1 : 1))
    .map(({ name }) => name);
  return (policy === "newest" ? ordered.reverse() : ordered).slice(0, Math.max(0, count));
}

function numberOf(group: string, name: string): number {
  const rest = name.startsWith(`${group}-`) ? name.slice(group.length + 1) : "";
  return /^[1-9][0-9]{0,8}$/.test(rest) ? Number(rest) : 0;
}
