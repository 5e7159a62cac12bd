import { type DryRun, dryRun } from "../kernel/dry-run.ts";
import { EngineError } from "../kernel/errors.ts";
import { isoTime } from "../kernel/iso-time.ts";
import { sizesOf } from "../kernel/plan.ts";
import type {
  BudgetUse,
  Change,
  ChangeDone,
  ChangeRefusal,
  FourEyesRefusal,
  PlannedSubject,
} from "../ports/declaring-store.ts";
import type { Verdict } from "../ports/records.ts";
import type { ApiContext } from "./context.ts";
import { ResourceDocuments } from "./resource-document.ts";
import type { FieldChange } from "./resources/fields.ts";
import type { DryRunDocument } from "./schemas/dry-run.ts";

export const freshWithinMs = 10_000;
/** How often it is asked whether the look that was asked for has ended. */
export const lookEveryMs = 200;
const shownItems = 1_000;

export interface PlannedChanges {
  readonly organization: string;
  readonly organizationId: string;
  readonly changes: readonly Change[];
  /** Per change: the fields it changes, and the revision it is computed from. */
  readonly about: readonly { readonly fields: readonly FieldChange[]; readonly revision: number }[];
  readonly fresh: boolean;
}

export type Planned =
  | { readonly made: true; readonly document: DryRunDocument }
  | { readonly made: false; readonly at: number; readonly refusal: ChangeRefusal };

/** What changes would lead to: checked by the store as if they were made, planned by the engine's own code. */
export async function planned(context: ApiContext, request: PlannedChanges): Promise<Planned> {
  const { organizationId, changes } = request;
  const first = await context.declaring.plan({ organizationId, changes });
  if (!first.made) return first;
  const looked = request.fresh ? await lookAgain(context, organizationId, first.subjects) : undefined;
  const answer = looked === undefined ? first : await context.declaring.plan({ organizationId, changes });
  if (!answer.made) return answer;
  const names = await new ResourceDocuments(context, request.organization).accountNames();
  const budgets = new SharedBudgets(context, organizationId);
  const subjects: SubjectDocument[] = [];
  // One after the other: what one of them would delete is gone from the budgets of the next.
  for (const subject of answer.subjects)
    subjects.push(await subjectDocument(context, subject, { names, looked: looked ?? new Map(), budgets }));
  const document: DryRunDocument = {
    dryRun: true,
    changes: changes.map((change, index) => changeDocument(change, answer.done[index], request.about[index])),
    subjects,
    notes: [...answer.needsOther.map(waitsNote), ...notesOf(subjects, request.fresh, looked)],
  };
  return { made: true, document };
}

type Looked = ReadonlyMap<number, number>;

/** Has the owners look again, and waits a while: the store time from which on each subject is known to have been seen. */
async function lookAgain(
  context: ApiContext,
  organizationId: string,
  subjects: readonly PlannedSubject[],
): Promise<Looked> {
  const uids = [...new Set(subjects.map(({ input }) => input.subject.resourceUid))];
  const known = await context.reads.resourcesByUid({ organizationId, uids });
  const askedAtMs = (await context.reads.logPosition()).nowMs;
  await Promise.all(known.map(({ resource: { uid } }) => context.intents.reconcileNow({ organizationId, uid })));
  const looked = new Map<number, number>();
  const untilMs = context.clock.monotonicMs() + freshWithinMs;
  const waiting = () => known.flatMap((view) => view.subjects).some(({ id }) => !looked.has(id));
  while (waiting() && context.clock.monotonicMs() < untilMs) {
    await context.clock.wait(lookEveryMs);
    const now = await context.reads.resourcesByUid({ organizationId, uids });
    for (const { id, dueAtMs } of now.flatMap((view) => view.subjects)) {
      // The cycle that was asked for has ended: whatever it saw is newer than the question.
      if (dueAtMs === undefined || dueAtMs > askedAtMs + freshWithinMs) looked.set(id, looked.get(id) ?? askedAtMs);
    }
  }
  return looked;
}

function changeDocument(
  change: Change,
  done: ChangeDone | undefined,
  about: PlannedChanges["about"][number] | undefined,
): DryRunDocument["changes"][number] {
  const { kind, name } = change.action === "declare" ? change.declare : change;
  const actions = { created: "create", changed: "update", unchanged: "none", deleting: "delete" } as const;
  const fields = (about?.fields ?? []).map((field) => ({ ...field }));
  return { action: actions[done?.result ?? "unchanged"], kind, name, revision: about?.revision ?? 0, fields };
}

/** The hourly delete budgets as they stand, less what this dry run would have taken so far. Nothing is charged. */
class SharedBudgets {
  readonly #context: ApiContext;
  readonly #organizationId: string;
  readonly #taken = new Map<string | undefined, number>();

  constructor(context: ApiContext, organizationId: string) {
    this.#context = context;
    this.#organizationId = organizationId;
  }

  async now(accountId: string | undefined): Promise<readonly BudgetUse[]> {
    const organizationId = this.#organizationId;
    const levels = await this.#context.declaring.deleteBudgets({ organizationId, accountId });
    const everywhere = [...this.#taken.values()].reduce((sum, count) => sum + count, 0);
    const here = this.#taken.get(accountId) ?? 0;
    return levels.map((use) => ({ ...use, used: use.used + (use.level === "account" ? here : everywhere) }));
  }

  take(accountId: string | undefined, deletes: number): void {
    this.#taken.set(accountId, (this.#taken.get(accountId) ?? 0) + deletes);
  }
}

type SubjectDocument = DryRunDocument["subjects"][number];

async function subjectDocument(
  context: ApiContext,
  subject: PlannedSubject,
  known: {
    readonly names: ReadonlyMap<string, string>;
    readonly looked: Looked;
    readonly budgets: SharedBudgets;
  },
): Promise<SubjectDocument> {
  const { input, observation } = subject;
  const { id, kind, name, accountId } = input.subject;
  const account = accountId === undefined ? {} : { account: known.names.get(accountId) ?? accountId };
  const nothing = { sizes: { create: 0, update: 0, replace: 0, delete: 0 }, items: [], verdicts: [], held: [] };
  if (observation === undefined) return { kind, name, ...account, ...nothing };
  const confirmedAtMs = Math.max(observation.observedAtMs, subject.confirmedAtMs ?? 0, known.looked.get(id) ?? 0);
  const { completeness, truncated, items } = observation;
  const seen = {
    completeness,
    at: isoTime(confirmedAtMs),
    ageSeconds: Math.max(0, Math.round((input.storeNowMs - confirmedAtMs) / 1_000)),
    items: items.length,
    truncated,
  };
  const last = { observation, confirmedAtMs };
  const run = await dryRun(context.kinds, input, last, () => known.budgets.now(accountId));
  if (run instanceof EngineError || run === undefined) {
    const problem = { code: run?.code ?? "KIND_UNKNOWN", message: run?.message ?? "no loop is installed for it" };
    return { kind, name, ...account, observation: seen, ...nothing, problem };
  }
  known.budgets.take(accountId, run.deletes);
  return { kind, name, ...account, mode: run.policy.mode, observation: seen, ...runDocument(run) };
}

function runDocument({ plan, admitted, verdicts, held }: DryRun) {
  const passing = new Set(admitted.map(({ key }) => key));
  return {
    sizes: sizesOf(plan),
    items: plan.changes.slice(0, shownItems).map((change) => {
      const externalId = change.seen?.externalId ?? change.owned?.externalId;
      return {
        action: change.action,
        key: change.key,
        ...(externalId === undefined ? {} : { externalId }),
        differences: change.differences.map(({ field, wanted, seen }) => ({
          field,
          ...(wanted === undefined ? {} : { wanted }),
          ...(seen === undefined ? {} : { seen }),
        })),
        passes: passing.has(change.key),
      };
    }),
    verdicts: verdicts.map(verdictDocument),
    ...(plan.ignored.length === 0
      ? {}
      : {
          ignored: plan.ignored
            .slice(0, shownItems)
            .map(({ key, field, wanted, seen, rule: { reason, from, until } }) => ({
              key,
              field,
              ...(wanted === undefined ? {} : { wanted }),
              ...(seen === undefined ? {} : { seen }),
              reason,
              from,
              ...(until === undefined ? {} : { until }),
            })),
        }),
    held: held.map(({ guard, level, verdict, items }) => ({
      guard,
      level,
      reason: verdict.reason,
      keys: items.map(({ key }) => key),
    })),
  };
}

function verdictDocument(verdict: Verdict) {
  return { ...verdict, numbers: { ...verdict.numbers }, keys: [...verdict.keys] };
}

function waitsNote({ loosened }: FourEyesRefusal): string {
  const fields = loosened.map(({ field }) => field).join(" and ");
  return `It loosens ${fields}, and policy asks for four eyes: it would wait for another person's approval first.`;
}

function notesOf(subjects: readonly SubjectDocument[], fresh: boolean, looked: Looked | undefined): string[] {
  const notes: string[] = [];
  if (subjects.length === 0) notes.push("Nothing outside depends on it.");
  for (const { kind, name, observation, items } of subjects) {
    if (observation === undefined)
      notes.push(`${kind}/${name} was never looked at: its first look says what would be done.`);
    else if (items.length === shownItems) notes.push(`${kind}/${name}: only the first ${shownItems} items are shown.`);
  }
  if (subjects.some(({ items }) => items.some(({ action }) => action === "delete" || action === "replace")))
    notes.push(
      "The hourly budgets of the account, the organization and the platform are judged as they stand now: others may use them before it runs.",
    );
  if (fresh && (looked?.size ?? 0) < subjects.filter(({ observation }) => observation !== undefined).length)
    notes.push("Not everything could be looked at again within 10 seconds: the age of each observation says which.");
  return notes;
}
