import type {
  Change,
  ChangeAnswer,
  ChangeDone,
  ChangeRefusal,
  DeclaringStore,
} from "../../src/ports/declaring-store.ts";
import { declare, requestDeletion } from "../sim/store/intents.ts";
import { startOperation } from "../sim/store/operations.ts";
import { findResource, type State } from "../sim/store/state.ts";

type Request = Pick<Parameters<DeclaringStore["change"]>[0], "organizationId" | "changes">;

/**
 * All of the changes or none, in one transaction of the store in memory, with the operations that they start. It knows no quotas,
 * and of references only those that are parts; PostgreSQL has tests of its own for these.
 */
export function changeTogether(state: State, { organizationId, changes }: Request): ChangeAnswer {
  for (const [at, change] of changes.entries()) {
    const refusal = refusalOf(state, organizationId, change);
    if (refusal !== undefined) return { made: false, at, refusal };
  }
  return { made: true, done: changes.map((change) => make(state, organizationId, change)) };
}

function refusalOf(state: State, organizationId: string, change: Change): ChangeRefusal | undefined {
  if (change.action === "declare") {
    const standing = findResource(state.tables, organizationId, change.declare);
    if (standing?.deletion !== undefined) return { result: "being-deleted" };
    const revision = standing?.revision ?? 0;
    const { ifRevision = revision } = change.declare;
    if (ifRevision !== revision) return { result: "conflict", revision, uid: standing?.uid };
    const invalid = change.references
      .filter(({ part }) => part)
      .filter((reference) => findResource(state.tables, organizationId, reference) === undefined)
      .map((reference) => ({ ...reference, because: "missing" as const }));
    return invalid.length === 0 ? undefined : { result: "references", invalid };
  }
  const standing = findResource(state.tables, organizationId, change);
  if (standing === undefined) return { result: "not-found" };
  const { ifGeneration = standing.generation } = change;
  if (ifGeneration === standing.generation) return undefined;
  return { result: "conflict", revision: standing.revision, uid: standing.uid };
}

function make(state: State, organizationId: string, change: Change): ChangeDone {
  if (change.action === "declare") {
    const answer = declare(state, change.declare);
    if (answer.result === "conflict") throw new Error("A declaration was refused after it was checked");
    if (answer.result !== "unchanged" && change.starts !== undefined)
      startOperation(state, { ...change.starts, organizationId, resourceUid: answer.resource.uid });
    return answer;
  }
  const standing = findResource(state.tables, organizationId, change);
  if (standing === undefined) throw new Error("A deletion was refused after it was checked");
  const { author, orphan, confirmedCount } = change;
  requestDeletion(state, { organizationId, uid: standing.uid, ifRevision: undefined, author, orphan, confirmedCount });
  if (change.starts !== undefined)
    startOperation(state, { ...change.starts, organizationId, resourceUid: standing.uid });
  return { result: "deleting", uid: standing.uid, revision: standing.revision };
}
