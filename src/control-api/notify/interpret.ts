import { counted } from "../../kernel/counted.ts";
import { scopeWords } from "../../kernel/scope-words.ts";
import { oldHoldMs } from "../../kernel/steering.ts";
import type { NotificationType, Told } from "../../ports/notification-store.ts";
import type { SealedEntry } from "../../ports/read-store.ts";
import { answerWithinMs } from "../held-document.ts";
import { duration } from "../subject-conditions.ts";

/** How long more of the same cause is waited for. What stops everything is told at once. */
const gatherMs = 30_000;
const longestText = 300;

/** What of the log people are told, and what it has in common with others: the cause. Undefined: nothing. */
export function interpret(entry: SealedEntry, organization: string | undefined): Told | undefined {
  const data = fieldsOf(entry);
  const about = { entry, data, base: organization === undefined ? "/v1" : `/v1/organizations/${organization}` };
  switch (entry.type) {
    case "held-change.opened":
    case "held-change.moved":
      return heldChange(about);
    case "held-change.overdue":
      return overdue(about);
    case "governance.proposed":
      return told("held_change.waiting", `rules/${text(data["type"])}`, {
        summary: `A change of the rules waits for a person: ${text(data["reason"])}`,
        item: itemOf(entry, text(data["reason"]), `${about.base}/held-changes/${entry.uid ?? ""}`, answerWithinMs),
      });
    case "guard.refused":
      return told("guard.tripped", `guard/${text(data["guard"])}`, {
        summary: `Guard ${text(data["guard"])} refused: ${text(data["message"])}`,
        item: resourceItem(about),
      });
    case "subject.stalled":
      return told("subject.stalled", `stall/${codeOf(data["message"])}`, {
        summary: `It cannot go on: ${text(data["message"])}`,
        item: resourceItem(about),
      });
    case "subject.recovered":
      return told("subject.recovered", "recovery", {
        summary: `It goes on: ${text(data["message"])}`,
        item: resourceItem(about),
      });
    case "operation.attention":
      return told("operation.waiting", `operation/${text(data["pipeline"])}/${text(data["step"])}`, {
        summary: `An operation waits for a person: ${text(data["message"])}`,
        item: operationItem(about, text(data["message"])),
      });
    case "operation.overdue":
      return told("operation.overdue", `hold/${text(data["pipeline"])}`, {
        summary: `An operation holds its resource for more than ${duration(oldHoldMs)}: ${text(data["pipeline"])}`,
        item: operationItem(about, `started by ${text(data["startedBy"])}: ${text(data["message"])}`),
      });
    case "pause.placed":
    case "pause.ended":
      return pause(about);
    case "webhook.disabled":
      return told("webhook.disabled", `webhook/${entry.uid ?? ""}`, {
        summary: `The webhook ${text(data["url"])} was switched off: ${text(data["reason"])}`,
        item: itemOf(entry, text(data["reason"]), `${about.base}/webhooks/${entry.uid ?? ""}`, undefined),
        gatherMs: 0,
      });
    default:
      return undefined;
  }
}

interface About {
  readonly entry: SealedEntry;
  readonly data: Readonly<Record<string, unknown>>;
  readonly base: string;
}

function heldChange({ entry, data, base }: About): Told {
  const guard = text(data["guard"]);
  const items = typeof data["items"] === "number" ? data["items"] : 0;
  return told("held_change.waiting", `held/${guard}/${text(data["level"])}`, {
    summary: `Held by guard ${guard}: ${text(data["reason"])}`,
    item: itemOf(
      entry,
      `${counted(items, "item")}: ${text(data["reason"])}`,
      `${base}/held-changes/${entry.uid ?? ""}`,
      answerWithinMs,
    ),
  });
}

/** The same cause as when it began to wait, and a notification of its own: somebody has missed that one. */
function overdue({ entry, data, base }: About): Told {
  const guard = text(data["guard"]);
  const items = typeof data["items"] === "number" ? data["items"] : 0;
  const path = `${base}/held-changes/${entry.uid ?? ""}`;
  const deadlineMs = typeof data["deadlineMs"] === "number" ? data["deadlineMs"] : entry.atMs;
  return told("held_change.overdue", `overdue/${guard}/${text(data["level"])}`, {
    summary: `Nobody has decided in time. Held by guard ${guard}: ${text(data["reason"])}`,
    item: { ...itemOf(entry, `${counted(items, "item")}: ${text(data["reason"])}`, path, undefined), deadlineMs },
  });
}

function pause({ entry, data, base }: About): Told {
  const scope = text(data["scope"]);
  const begins = entry.type === "pause.placed";
  const platform = scope === "platform";
  const type: NotificationType = platform
    ? begins
      ? "freeze.started"
      : "freeze.ended"
    : begins
      ? "pause.started"
      : "pause.ended";
  const what = platform ? "Everything" : typeof data["on"] === "string" ? text(data["on"]) : scopeWords(scope);
  const summary = begins
    ? `${what}: ${text(data["level"])} paused by ${entry.actor}: ${text(data["reason"])}`
    : `${what}: goes on, by ${entry.actor}`;
  const path = platform ? "/v1/freeze" : `${base}/pauses`;
  return told(type, `${begins ? "pause" : "resume"}/${scope}`, {
    summary,
    item: itemOf(entry, summary, path, undefined),
    gatherMs: 0,
  });
}

function told(
  type: NotificationType,
  cause: string,
  rest: Pick<Told, "summary" | "item"> & { readonly gatherMs?: number },
): Told {
  return { type, cause: cause.slice(0, 200), gatherMs, ...rest };
}

function itemOf(entry: SealedEntry, words: string, path: string, withinMs: number | undefined): Told["item"] {
  return {
    id: entry.uid ?? String(entry.position),
    text: words,
    path,
    deadlineMs: withinMs === undefined ? undefined : entry.atMs + withinMs,
  };
}

function resourceItem({ entry, data, base }: About): Told["item"] {
  const words = `${text(data["kind"])}/${text(data["name"])}: ${text(data["message"])}`;
  return itemOf(entry, words.slice(0, longestText), `${base}/drift`, undefined);
}

function operationItem({ entry, data, base }: About, words: string): Told["item"] {
  const id = text(data["operation"]);
  const about = `${text(data["kind"])}/${text(data["name"])}: ${text(data["pipeline"])} ${words}`.slice(0, longestText);
  return { ...itemOf(entry, about, `${base}/operations/${id}`, undefined), id };
}

/** Messages begin with a code where there is one; what comes behind differs from thing to thing. */
function codeOf(message: unknown): string {
  return /^([A-Z][A-Z_]+):/.exec(text(message))?.[1] ?? "other";
}

function fieldsOf({ data }: SealedEntry): Readonly<Record<string, unknown>> {
  return typeof data === "object" && data !== null && !Array.isArray(data) ? (data as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value.slice(0, longestText) : "";
}
