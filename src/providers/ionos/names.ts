import type { Mark, OwnMark } from "../../ports/compute.ts";

/**
 * Labels are a call of their own here, after the one that makes a thing; so the mark stands in its name, which is deterministic:
 * whoever repeats an order gives the same name.
 */
const marked = /^(.*) setpoint:([^: ]+):([^: ]+)$/;

export function markTextOf({ installationId, resourceUid }: OwnMark): string {
  return `setpoint:${installationId}:${resourceUid}`;
}

export function nameFor(name: string, mark: OwnMark): string {
  return `${name} ${markTextOf(mark)}`;
}

export function nameAndMark(full: string): { readonly name: string; readonly mark: Mark } {
  const match = marked.exec(full);
  if (match === null) return { name: full, mark: "none" };
  const [, name = "", installationId = "", resourceUid = ""] = match;
  return { name, mark: { installationId, resourceUid } };
}

export function isSameMark(mark: Mark, own: OwnMark): boolean {
  return (
    typeof mark === "object" &&
    "installationId" in mark &&
    mark.installationId === own.installationId &&
    mark.resourceUid === own.resourceUid
  );
}

/** Things are inside data centers, so an id is two: the data center's and its own. Neither holds a colon. */
export function idOf(datacenter: string, id: string): string {
  return `${datacenter}:${id}`;
}

export function partsOf(id: string): readonly [string, string] {
  const [datacenter = "", own = ""] = id.split(":");
  return [datacenter, own];
}
