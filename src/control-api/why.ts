import { counted } from "../kernel/counted.ts";
import { isInForce } from "../kernel/ignored.ts";
import { isoTime } from "../kernel/iso-time.ts";
import type { Kind } from "../kernel/kind.ts";
import { effectivePolicy } from "../kernel/policy.ts";
import { pausedWords, scopeWords } from "../kernel/scope-words.ts";
import { isLive } from "../kernel/steering.ts";
import type { Json } from "../ports/json.ts";
import type { OperationState } from "../ports/operation-store.ts";
import type { HeldChangeView, HistoryEntry, ResourceView } from "../ports/read-store.ts";
import type { ApiContext } from "./context.ts";
import { historyDocument } from "./history-words.ts";
import { ignoreDocument } from "./ignore-document.ts";
import { ResourceDocuments } from "./resource-document.ts";
import type { Reason, WhyDocument } from "./schemas/resource.ts";
import type { ResolvedScope } from "./scope.ts";
import { duration, failedLook } from "./subject-conditions.ts";

const historyLimit = 50;
const namedStrangers = 10;

type Explained = ResolvedScope & { readonly view: ResourceView };

/** Answers "why is it so?" from the record alone: what was declared, what stands in the way, what was done and answered. */
export async function explain(context: ApiContext, kind: Kind, about: Explained): Promise<WhyDocument> {
  const { resource } = about.view;
  if (kind.loop === undefined) return await explainPart(context, kind, about);
  const [looks, operations, held, history] = await Promise.all([
    lookReasons(context, about),
    operationReasons(context, about),
    heldReasons(context, about),
    historyOf(context, about),
  ]);
  const chain = [
    ...declarationReasons(about.view),
    ...policyReasons(kind, about.view),
    ...ignoreReasons(context, about.view),
    ...pauseReasons(context, about.view),
    ...looks,
    ...(await conditionReasons(context, kind, about)),
    ...operations,
    ...held,
  ];
  return {
    kind: resource.kind,
    name: resource.name,
    uid: resource.uid,
    summary: summaryOf(about.view, chain),
    chain,
    history: history.map(historyDocument),
  };
}

/** A kind without a loop is explained by what carries it out, narrowed to the changes that name this resource. */
async function explainPart(context: ApiContext, kind: Kind, about: Explained): Promise<WhyDocument> {
  const { resource } = about.view;
  const documents = new ResourceDocuments(context, about.organization);
  const chain: Reason[] = [...declarationReasons(about.view), ...ignoreReasons(context, about.view)];
  const history: WhyDocument["history"] = [];
  for (const link of documents.linksOf(kind, about.view)) {
    const target = await documents.linked(link);
    const targetKind = context.kinds.get(link.kind);
    if (target === undefined || targetKind === undefined) {
      chain.push({
        topic: "part-of",
        blocking: true,
        words: `it belongs to ${link.kind}/${link.name}, which is not declared in this scope`,
      });
      continue;
    }
    const words = `${kind.withoutLoop ?? "it has no loop of its own."} It is part of ${link.kind}/${link.name}`;
    chain.push({ topic: "part-of", blocking: false, words });
    const whole = await explain(context, targetKind, { ...about, view: target });
    history.push(...whole.history.filter((entry) => entry.declaredBy?.some((source) => source.uid === resource.uid)));
    // What stands in another scope's way names what is declared there, and is not for everybody who sees this one.
    if (link.scope !== resource.scope) {
      chain.push(...(await conditionReasons(context, kind, about)));
      continue;
    }
    chain.push(
      ...whole.chain
        .filter((reason) => reason.topic !== "declared")
        .map((reason) => ({ ...reason, words: `${link.kind}/${link.name}: ${reason.words}` })),
    );
  }
  return {
    kind: resource.kind,
    name: resource.name,
    uid: resource.uid,
    summary: summaryOf(about.view, chain),
    chain,
    history,
  };
}

function declarationReasons({ resource, revision }: ResourceView): readonly Reason[] {
  const { author, declaredAtMs, generation, deletion } = resource;
  const declared: Reason = {
    topic: "declared",
    blocking: false,
    words: `declared by ${author.name} (${author.type}) at ${isoTime(declaredAtMs)}, generation ${generation}`,
    data: { author: author.name, type: author.type, at: isoTime(declaredAtMs), generation, revision },
  };
  if (deletion === undefined) return [declared];
  const how = deletion.orphan ? "what it made outside is left there" : "what it made outside is deleted first";
  const words = `deleted by ${deletion.author.name} at ${isoTime(deletion.atMs)}; ${how}`;
  return [
    declared,
    {
      topic: "deletion",
      blocking: false,
      words,
      data: { by: deletion.author.name, at: isoTime(deletion.atMs), orphan: deletion.orphan },
    },
  ];
}

function policyReasons(kind: Kind, view: ResourceView): readonly Reason[] {
  const policy = effectivePolicy(view.policies, kind.loop?.limits);
  const from =
    policy.modeFrom === `resource/${view.resource.uid}` ? "its own declaration" : scopeWords(policy.modeFrom);
  const data: Json = {
    mode: policy.mode,
    from,
    limits: {
      ...policy.limits,
      deletesPerCycle: { ...policy.limits.deletesPerCycle },
      deletesPerHour: { ...policy.limits.deletesPerHour },
    } as unknown as Json,
  };
  if (policy.mode === "enforce")
    return [{ topic: "mode", blocking: false, words: "mode enforce: changes are made within the guards", data }];
  const effect =
    policy.mode === "observe" ? "it is looked at and nothing is written" : "every change waits for a person";
  const command = `setpoint mode ${kind.kind.toLowerCase()}/${view.resource.name} enforce`;
  return [{ topic: "mode", blocking: true, words: `mode ${policy.mode} (${from}): ${effect}`, command, data }];
}

/** What is left alone is said even while nothing differs: it is why a later difference would stay. */
function ignoreReasons(context: ApiContext, { resource, policies }: ResourceView): readonly Reason[] {
  const nowMs = context.clock.nowMs();
  const target = `${resource.kind.toLowerCase()}/${resource.name}`;
  return effectivePolicy(policies, undefined)
    .ignore.filter((rule) => isInForce(rule, nowMs))
    .filter(({ kind, name }) => kind === resource.kind && (name === undefined || name === resource.name))
    .map((rule): Reason => {
      const item = rule.item === undefined ? "its items" : rule.item;
      const end = rule.until === undefined ? "" : ` until ${rule.until}`;
      return {
        topic: "ignored",
        blocking: false,
        words: `${rule.field} of ${item} is left as it is when it differs${end}, by a rule of ${scopeWords(rule.from)}: ${rule.reason}`,
        ...(rule.name === undefined
          ? {}
          : {
              command: `setpoint ignore ${target} ${rule.field}${rule.item === undefined ? "" : ` --item '${rule.item}'`} --remove`,
            }),
        data: { ...ignoreDocument(rule) } as Json,
      };
    });
}

function pauseReasons(context: ApiContext, view: ResourceView): readonly Reason[] {
  const nowMs = context.clock.nowMs();
  const pauses = view.pauses.map((pause): Reason => {
    const words = pausedWords(pause, duration(Math.max(0, pause.expiresAtMs - nowMs)));
    return {
      topic: "pause",
      blocking: true,
      words,
      command: `setpoint resume ${pause.id}`,
      data: { id: pause.id, level: pause.level, until: isoTime(pause.expiresAtMs) },
    };
  });
  const holds = view.subjects.flatMap(({ holdOperationId }): readonly Reason[] =>
    holdOperationId === undefined
      ? []
      : [
          {
            topic: "hold",
            blocking: true,
            words: `held by operation ${holdOperationId} until it ends`,
            data: { operation: holdOperationId },
          },
        ],
  );
  return [...pauses, ...holds];
}

/** What its looks fail with, in the provider's words, and what can be done about it by who reads this. */
async function failureReasons(
  context: ApiContext,
  { view, organizationId }: Explained,
  seenBefore: boolean,
): Promise<readonly Reason[]> {
  const failures = view.subjects.flatMap(({ accountId, status }) => {
    const failure = status === undefined ? undefined : failedLook(status);
    return failure === undefined ? [] : [{ accountId, failure }];
  });
  if (failures.length === 0) return [];
  const accounts = await context.reads.listAccounts(organizationId);
  return failures.map(({ accountId, failure: { message, sinceMs } }): Reason => {
    const account = accounts.find(({ id }) => id === accountId);
    const isRefused = message.startsWith("CREDENTIAL_REFUSED") && account !== undefined;
    const operator =
      isRefused && account.pool !== undefined ? ". The account is the operator's, who has to mend it" : "";
    const words = seenBefore
      ? `it cannot be looked at any more, since ${isoTime(sinceMs)}: ${message}${operator}`
      : `it could not be looked at yet: ${message}${operator}`;
    const look = { topic: "look", blocking: true, words, data: { failed: true, since: isoTime(sinceMs) } } as const;
    if (!isRefused || account.pool !== undefined) return look;
    return { ...look, command: `setpoint secret set-credential ${account.name}` };
  });
}

function unseenWords({ subjects }: ResourceView): string {
  const words = subjects.flatMap(
    ({ status }) => status?.conditions.find(({ type }) => type === "Ready")?.message ?? [],
  );
  return words.length === 0 ? "it was not looked at yet" : `it could not be looked at yet: ${words.join("; ")}`;
}

async function lookReasons(context: ApiContext, about: Explained): Promise<readonly Reason[]> {
  const observations = await context.reads.observation({
    organizationId: about.organizationId,
    uid: about.view.resource.uid,
  });
  const nowMs = context.clock.nowMs();
  const failures = await failureReasons(context, about, observations.length > 0);
  if (observations.length === 0)
    return failures.length > 0 ? failures : [{ topic: "look", blocking: true, words: unseenWords(about.view) }];
  const looks = observations.flatMap((seen): readonly Reason[] => {
    const ours = seen.items.filter((item) => item.owned).length;
    const strangers = seen.items.filter((item) => !item.owned).map((item) => item.key);
    const all = seen.items.length;
    const count = seen.truncated ? `${all} or more items` : counted(all, "item");
    const whose =
      all === 0
        ? ""
        : ours === all && !seen.truncated
          ? all === 1
            ? ", ours"
            : ", all ours"
          : `, ${ours} of them ours`;
    const words = `the last change outside was seen ${duration(nowMs - seen.observedAtMs)} ago: a ${seen.completeness} look, ${count}${whose}`;
    const data = { at: isoTime(seen.observedAtMs), completeness: seen.completeness, items: seen.items.length, ours };
    const look: Reason = { topic: "look", blocking: seen.completeness !== "complete", words, data };
    if (strangers.length === 0) return [look];
    const named = strangers.slice(0, namedStrangers).join(", ") + (strangers.length > namedStrangers ? ", …" : "");
    return [
      look,
      {
        topic: "strangers",
        blocking: false,
        words: `${counted(strangers.length, "item")} there ${strangers.length === 1 ? "is" : "are"} not ours and left alone: ${named}`,
        data: { keys: strangers.slice(0, 100) },
      },
    ];
  });
  return [...failures, ...looks];
}

async function conditionReasons(context: ApiContext, kind: Kind, about: Explained): Promise<readonly Reason[]> {
  const { status } = await new ResourceDocuments(context, about.organization).document(kind, about.view);
  return status.conditions
    .filter((condition) => condition.type !== "Fresh" || condition.status !== "True")
    .map((condition): Reason => {
      const bad =
        condition.type.startsWith("Guard/") || condition.type === "Flapping"
          ? condition.status === "True" && condition.reason !== "Passed"
          : condition.status !== "True";
      const since = condition.since === undefined ? "" : `, since ${condition.since}`;
      return {
        topic: "condition",
        blocking: bad,
        words: `${condition.type} is ${condition.status} (${condition.reason}${since}): ${condition.message}`,
        data: { type: condition.type, status: condition.status, reason: condition.reason },
      };
    });
}

const stateWords: Readonly<Partial<Record<OperationState, string>>> = {
  attention: "waits for a person",
  cancelled: "was cancelled",
};

/** The last operation on it, unless that did what it was for. */
async function operationReasons(context: ApiContext, about: Explained): Promise<readonly Reason[]> {
  const { organizationId } = about;
  const [last] = await context.operations.listOperations({ organizationId, uid: about.view.resource.uid, limit: 1 });
  if (last === undefined || last.state === "succeeded") return [];
  const { id, pipeline, version, state, step, attempts, message } = last;
  const at = step === undefined || !isLive(last) ? "" : ` at step '${step}'`;
  // Why it was not run is told as "not run: …" wherever it is told.
  const stands = state === "not-run" ? `was ${message}` : `${stateWords[state] ?? `is ${state}`}${at}: ${message}`;
  return [
    {
      topic: "operation",
      blocking: true,
      words: `operation ${id} (${pipeline} version ${version}) ${stands}`,
      command: `setpoint ops get ${id}`,
      data: { operation: id, pipeline, version, state, attempts, ...(step === undefined ? {} : { step }) },
    },
  ];
}

async function heldReasons(context: ApiContext, about: Explained): Promise<readonly Reason[]> {
  const open = await context.reads.listHeldChanges({
    organizationId: about.organizationId,
    states: ["open", "rejected"],
    limit: 500,
  });
  const subjects = new Set(about.view.subjects.map((subject) => subject.id));
  return open.flatMap((held): readonly Reason[] => {
    const ours = held.items.filter((item) => subjects.has(item.subjectId));
    return ours.length === 0 ? [] : [heldReason(held, ours)];
  });
}

function heldReason(held: HeldChangeView, ours: HeldChangeView["items"]): Reason {
  const keys =
    ours
      .slice(0, namedStrangers)
      .map((item) => `${item.action} ${item.key}`)
      .join(", ") + (ours.length > namedStrangers ? ", …" : "");
  const state =
    held.state === "open"
      ? "waits for a person"
      : `was rejected by ${held.decidedBy ?? "somebody"} and stays undone until it changes`;
  return {
    topic: "held-change",
    blocking: true,
    words: `held change ${held.id} ${state} (${held.guard}: ${held.verdict.reason}): ${keys}`,
    command: `setpoint approve ${held.id} --digest ${held.digest}`,
    data: {
      id: held.id,
      digest: held.digest,
      guard: held.guard,
      state: held.state,
      items: ours.length,
      numbers: { ...held.verdict.numbers },
    },
  };
}

async function historyOf(context: ApiContext, about: Explained): Promise<readonly HistoryEntry[]> {
  return await context.reads.history({
    organizationId: about.organizationId,
    uid: about.view.resource.uid,
    limit: historyLimit,
  });
}

function summaryOf(view: ResourceView, chain: readonly Reason[]): string {
  const name = `${view.resource.kind}/${view.resource.name}`;
  const [first] = chain.filter((reason) => reason.blocking).sort((left, right) => rank(left) - rank(right));
  // What holds changes back says nothing of how it is: that is what its conditions and the look at it say.
  const isBad = chain.some(({ topic, blocking }) => blocking && (topic === "condition" || topic === "look"));
  if (first !== undefined && isBad) return `${name} is not as declared, or not known to be: ${first.words}`;
  if (first !== undefined) return `${name} is as declared, and changes to it are held back: ${first.words}`;
  const reported = chain.find(({ topic, words }) => topic === "condition" && words.startsWith("Report/"));
  return reported === undefined ? `${name} is as declared` : `${name} is as declared, but ${reported.words}`;
}

/** What somebody can answer comes before what merely follows from it. */
const answerable: readonly Reason["topic"][] = ["pause", "held-change", "mode", "operation", "hold", "part-of", "look"];

function rank(reason: Reason): number {
  // What cannot be looked at is not known, whatever its mode would do about it; only a pause may be why.
  if (isFailedLook(reason)) return answerable.indexOf("pause") + 0.5;
  const at = answerable.indexOf(reason.topic);
  return at < 0 ? answerable.length : at;
}

function isFailedLook({ topic, data }: Reason): boolean {
  return topic === "look" && typeof data === "object" && data !== null && "failed" in data;
}
