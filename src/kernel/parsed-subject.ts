import type { CycleInput } from "../ports/records.ts";
import { TerminalError } from "./errors.ts";
import { describeSpecErrors, type Kind, parseSpec } from "./kind.ts";
import type { Subject } from "./loop.ts";

export function parsedSubject(kind: Kind, input: CycleInput): Subject<unknown> {
  const { resource } = input;
  const base = {
    uid: resource.uid,
    name: resource.name,
    scope: resource.scope,
    organizationId: input.subject.organizationId,
    generation: resource.generation,
  };
  const parsed = parseSpec(kind, resource.spec);
  if (parsed.ok) return { ...base, spec: parsed.spec };
  // A spec that stopped parsing can still be deleted, by the last one that did.
  const last =
    resource.deletion === undefined || input.memory.lastSpec === undefined
      ? undefined
      : parseSpec(kind, input.memory.lastSpec);
  if (last?.ok === true) return { ...base, spec: last.spec };
  throw new TerminalError("SPEC_INVALID", describeSpecErrors(resource, parsed.errors));
}
