import { sameJson } from "../../kernel/hash.ts";
import type { Inspection, Seen } from "../../kernel/loop.ts";
import type { JsonObject } from "../../ports/json.ts";
import { typeOf } from "../compute-profile/naming-one.ts";
import type { HostSpec } from "../host/schema.ts";
import { newMember } from "./members.ts";
import type { ScalingGroupSpec } from "./schema.ts";

const namedAtMost = 5;

/** What a server is born with, in the words of a spec. A host key is each member's own. */
function birthOf(spec: HostSpec): Readonly<Record<string, unknown>> {
  const { image, location, publicAddresses, sshKeys, userData, bootstrap } = spec;
  const ready = bootstrap === undefined ? undefined : { ...bootstrap, hostKey: undefined };
  return { type: typeOf(spec), image, location, publicAddresses, sshKeys, userData, bootstrap: ready };
}

/**
 * Of a changed template, what a server is born with is for members that are made later. That the others stay as they are is wanted
 * and easily forgotten: the group says how many they are, and how one is replaced.
 */
export function inspectTemplate(
  { name, spec }: { readonly name: string; readonly spec: ScalingGroupSpec },
  seen: readonly Seen<HostSpec>[],
): { readonly conditions: Inspection["conditions"]; readonly report: JsonObject } {
  const wanted = birthOf(newMember(name, spec));
  const differing = (member: HostSpec) => {
    const born = birthOf(member);
    return Object.keys(wanted).filter((field) => !sameJson(plain(born[field]), plain(wanted[field])));
  };
  // In one order, so that the words are the same as long as it is so.
  const older = seen
    .map(({ key, item }) => ({ key, fields: differing(item) }))
    .filter(({ fields }) => fields.length > 0)
    .toSorted((left, right) => left.key.localeCompare(right.key, "en", { numeric: true }));
  const report = { ofOlderTemplate: older.length };
  const [first] = older;
  if (first === undefined) return { conditions: [], report };
  const fields = [...new Set(older.flatMap((member) => member.fields))].join(", ");
  const names = older.map(({ key }) => key);
  const named = names.slice(0, namedAtMost).join(", ") + (names.length > namedAtMost ? ", …" : "");
  const next =
    spec.mode === "static"
      ? `To replace one: setpoint delete host/${first.key}, and the group makes a new one in its place`
      : `To replace one, declare host/${first.key} as the template says, and approve its replacement`;
  const message = `${older.length} of ${seen.length} members are still as an older template said (${fields}): ${named}. The new one is for members that are made from now on. ${next}`;
  return { conditions: [{ type: "MembersOutdated", status: "True", reason: "OlderTemplate", message }], report };
}

/** As it is stored: without what is not set. */
function plain(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
}
