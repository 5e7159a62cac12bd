import type { Ids } from "../ports/ids.ts";
import type { Json } from "../ports/json.ts";
import type { OperationStart } from "../ports/operation-store.ts";
import type { CycleInput, Principal } from "../ports/records.ts";
import { parsedSubject } from "./parsed-subject.ts";
import type { Kind } from "./kind.ts";
import { type Pipeline, startingPipeline } from "./pipeline.ts";
import { effectivePolicy } from "./policy.ts";

/** A new operation of a pipeline, in somebody's name. */
export function startOf(ids: Ids, pipeline: Pipeline, author: Principal, input: Json = {}): OperationStart {
  const { name, version, ends } = pipeline;
  const priority = author.type === "person" ? "person" : "event";
  return { operationId: ids.next(), pipeline: name, version, input, author, priority, ends };
}

/**
 * What is declared and was not run for a guard is started again by the loop once what the guard judged by has moved: a mode, a
 * limit, a credential, the spec. The mode is looked at first, so that nothing is started to be refused for that once more. A person's
 * cancel leaves nothing undone, and is not overruled.
 */
export function startAgain(ids: Ids, kind: Kind, input: CycleInput): OperationStart | undefined {
  const { undone, hold, resource, policyVersion } = input;
  if (undone === undefined || hold !== undefined || resource.deletion?.orphan === true) return undefined;
  if (undone.generation === resource.generation && undone.policyVersion === policyVersion) return undefined;
  if (effectivePolicy(input.policies, kind.loop?.limits).mode === "observe") return undefined;
  const ends = resource.deletion !== undefined;
  const pipeline = startingPipeline(kind.pipelines, parsedSubject(kind, input).spec, ends);
  return pipeline?.name === undone.pipeline ? startOf(ids, pipeline, undone.author) : undefined;
}
