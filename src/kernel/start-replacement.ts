import type { OperationRecord } from "../ports/operation-store.ts";
import type { CycleInput } from "../ports/records.ts";
import type { Engine } from "./claim.ts";
import { RetryableError, TerminalError } from "./errors.ts";
import type { Facts } from "./facts.ts";
import type { Loop, Subject } from "./loop.ts";
import { startOf } from "./operation-start.ts";
import { newestPipeline, type ReplacementInput, replacementInput } from "./pipeline.ts";
import type { PlannedChange } from "./plan.ts";

interface Replacing {
  readonly engine: Engine;
  readonly input: CycleInput;
  readonly facts: Facts;
  readonly loop: Loop<unknown, object>;
  readonly subject: Subject<unknown>;
}

/** Starts the operation that replaces one thing, in the name of whoever approved it. Nothing outside is changed here. */
export async function startReplacement(
  { engine, input, facts, loop, subject }: Replacing,
  { digest, seen, key }: PlannedChange,
): Promise<ReadonlyMap<string, string>> {
  const pipeline = newestPipeline(engine.kinds.get(loop.kind)?.pipelines, loop.replacement?.pipeline ?? "");
  const approver = facts.grants.get(digest)?.approver;
  if (pipeline === undefined || engine.starting === undefined || seen === undefined || approver === undefined)
    throw new TerminalError(
      "INTERNAL",
      `${loop.kind}/${subject.name}: '${key}' is replaced by ${loop.replacement?.pipeline ?? "nothing"}, and this process cannot start that`,
    );
  const replaces = seen.externalId.split("/")[0] ?? "";
  const told: ReplacementInput = { replaces, generation: input.resource.generation, digest };
  const start = startOf(engine.ids, pipeline, { name: approver, type: "person" }, told);
  const { organizationId, uid: resourceUid } = subject;
  const answer = await engine.starting.startOperation({ ...start, organizationId, resourceUid });
  if ("operation" in answer && (answer.result === "started" || isSame(answer.operation, digest)))
    return new Map([[key, seen.externalId]]);
  const words = `${loop.kind}/${subject.name}: another operation is under way, and ${pipeline.name} waits until it has ended`;
  throw new RetryableError("DEPENDENCY_NOT_READY", words, { ambiguous: false });
}

/** Asked twice, because the first answer was lost. */
function isSame({ input }: OperationRecord, digest: string): boolean {
  const told = replacementInput.safeParse(input);
  return told.success && told.data.digest === digest;
}
