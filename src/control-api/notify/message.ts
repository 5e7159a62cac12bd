import { createHmac } from "node:crypto";
import { isoTime } from "../../kernel/iso-time.ts";
import type { Notification } from "../../ports/notification-store.ts";

/** Receivers may refuse larger ones; ours name things and never carry them. */
const longestBytes = 20_000;

/** The message about a notification: thin, with links to what it is about. */
export function messageOf(notification: Notification, nowMs: number, publicUrl: string): string {
  const { type, cause, count, data, organization } = notification;
  const body = (items: readonly Notification["data"]["items"][number][]) =>
    JSON.stringify({
      type,
      timestamp: isoTime(nowMs),
      data: {
        ...(organization === undefined ? {} : { organization }),
        cause,
        count,
        summary: data.summary,
        since: isoTime(notification.openedAtMs),
        items: items.map(({ id, text, path, deadlineMs }) => ({
          id,
          text,
          ...(path === undefined ? {} : { link: publicUrl + path }),
          ...(deadlineMs === undefined ? {} : { deadline: isoTime(deadlineMs) }),
        })),
        more: Math.max(0, count - items.length),
      },
    });
  let items = data.items;
  for (; ; items = items.slice(0, Math.floor(items.length / 2))) {
    const message = body(items);
    if (Buffer.byteLength(message) <= longestBytes || items.length === 0) return message;
  }
}

/** The same for people who read it as mail. */
export function mailOf(body: string): { readonly subject: string; readonly text: string } {
  const { type, data } = JSON.parse(body) as {
    readonly type: string;
    readonly data: {
      readonly organization?: string;
      readonly count: number;
      readonly summary: string;
      readonly items: readonly { readonly text: string; readonly link?: string; readonly deadline?: string }[];
      readonly more: number;
    };
  };
  const due = type === "held_change.overdue" ? "should have been decided before" : "decide before";
  const where = data.organization === undefined ? "" : ` in ${data.organization}`;
  const lines = data.items.map(
    ({ text, link, deadline }) =>
      `- ${oneLine(text)}${deadline === undefined ? "" : `\n  ${due} ${deadline}`}${link === undefined ? "" : `\n  ${link}`}`,
  );
  const more = data.more > 0 ? [`… and ${data.more} more`] : [];
  return {
    subject: oneLine(`Setpoint${where}: ${type}${data.count > 1 ? ` (${data.count})` : ""}`),
    text: [oneLine(data.summary), "", ...lines, ...more, ""].join("\n"),
  };
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}

/** The headers of Standard Webhooks. Several secrets sign while one replaces another. */
export function signedHeaders(
  message: { readonly id: string; readonly body: string; readonly timestampSeconds: number },
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const { id, body, timestampSeconds } = message;
  const signed = `${id}.${timestampSeconds}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  });
  return {
    "content-type": "application/json",
    "user-agent": "Setpoint-Webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signatures.join(" "),
  };
}
