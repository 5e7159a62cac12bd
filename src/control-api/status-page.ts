import { counted } from "../kernel/counted.ts";
import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiContext } from "./context.ts";
import { loopRegistry } from "./loop-registry.ts";
import { summaryDocument } from "./routes/platform.ts";
import type { LoopsDocument, SummaryDocument } from "./schemas/platform.ts";
import { statusPageStyle } from "./status-page-style.ts";
import { duration } from "./subject-conditions.ts";

const styleHash = createHash("sha256").update(statusPageStyle).digest("base64");

/** Nothing may be loaded, run, framed or sent: the page is one document with one style, known by its hash. */
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * A page that needs no session and no script: whether it works, what it keeps, what waits for people. Figures only, no tenant's
 * names. It stands in for the console where that was not built.
 */
export function registerStatusPage(app: FastifyInstance, context: ApiContext, paths: readonly string[]): void {
  const answer = async (_request: FastifyRequest, reply: FastifyReply) => {
    const summary = await summaryDocument(context).catch(() => undefined);
    const oldestMs = summary?.oldestConfirmedAt === undefined ? undefined : await oldestAgeMs(context);
    const html = page(summary, { oldestMs, loops: loopRegistry(context.kinds), version: context.version });
    return await reply
      .code(summary === undefined ? 503 : 200)
      .type("text/html; charset=utf-8")
      .headers({
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      })
      .send(html);
  };
  for (const path of paths) app.get(path, answer);
}

async function oldestAgeMs(context: ApiContext): Promise<number | undefined> {
  const { oldestConfirmedAtMs } = await context.reads.summary();
  return oldestConfirmedAtMs === undefined ? undefined : Math.max(0, context.clock.nowMs() - oldestConfirmedAtMs);
}

interface PageFacts {
  readonly oldestMs: number | undefined;
  readonly loops: LoopsDocument;
  readonly version: string;
}

function page(summary: SummaryDocument | undefined, facts: PageFacts): string {
  const body =
    summary === undefined
      ? unavailable()
      : [headline(summary), figures(summary, facts), waiting(summary), services(summary), loops(facts)].join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="10">
<title>Setpoint</title>
<style>${statusPageStyle}</style>
</head>
<body>
<header><h1>Setpoint</h1><p>keeps what exists as it was declared</p></header>
<main>${body}</main>
<footer>version ${escaped(facts.version)}${summary === undefined ? "" : ` · installation ${escaped(summary.installationId)} · incarnation ${summary.incarnation} · schema ${summary.schemaVersion}`}<br>
<code>setpoint status</code> · <code>setpoint get dnszone</code> · <code>setpoint why KIND/NAME</code> · <a href="/sign-in">Sign in</a> · API: <a href="/metrics">/metrics</a>, <a href="/healthz">/healthz</a></footer>
</body>
</html>
`;
}

function unavailable(): string {
  return `<section class="line bad" role="status"><span class="mark" aria-hidden="true">✕</span><div><strong>The database does not answer</strong><p>Nothing is changed while it is away. Work resumes by itself when it is back.</p></div></section>`;
}

function headline(summary: SummaryDocument): string {
  const down = summary.services.filter((service) => service.state !== "running");
  if (down.length > 0)
    return line(
      "bad",
      "✕",
      `${down.map((service) => service.name).join(", ")} not running`,
      "What it does waits. It is restarted by itself.",
    );
  if (summary.pausesActive > 0)
    return line(
      "warn",
      "❚❚",
      plural(summary.pausesActive, "pause", "in force"),
      "See <code>setpoint pause list</code>; end one with <code>setpoint resume</code>.",
    );
  if (summary.heldOpen > 0)
    return line(
      "warn",
      "!",
      plural(summary.heldOpen, "held change", "waiting for a person"),
      "See <code>setpoint held list</code>.",
    );
  if (summary.operationsAttention > 0)
    return line(
      "warn",
      "!",
      plural(
        summary.operationsAttention,
        "operation",
        summary.operationsAttention === 1 ? "needs somebody" : "need somebody",
      ),
      "See <code>setpoint ops list --attention</code>.",
    );
  return line("good", "✓", "Running", "Nothing waits for a person.");
}

function line(state: "good" | "warn" | "bad", mark: string, title: string, hint: string): string {
  return `<section class="line ${state}" role="status"><span class="mark" aria-hidden="true">${mark}</span><div><strong>${escaped(title)}</strong><p>${hint}</p></div></section>`;
}

function figures(summary: SummaryDocument, facts: PageFacts): string {
  const cells = [
    ["Organizations", String(summary.organizations)],
    ["Resources", String(summary.resources)],
    ["Subjects", String(summary.subjects)],
    ["Due now", String(summary.dueNow)],
    ["Oldest verdict", facts.oldestMs === undefined ? "none yet" : `${duration(facts.oldestMs)} ago`],
  ];
  return `<section><h2>What is kept</h2><dl class="figures">${cells.map(([name = "", value = ""]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`).join("")}</dl></section>`;
}

function waiting(summary: SummaryDocument): string {
  const rows = [
    ["Held changes", summary.heldOpen, "setpoint held list"],
    ["Operations that need somebody", summary.operationsAttention, "setpoint ops list --attention"],
    ["Pauses in force", summary.pausesActive, "setpoint pause list"],
  ] as const;
  return `<section><h2>What waits for a person</h2><table><tbody>${rows.map(([name, count, command]) => `<tr><th scope="row">${name}</th><td class="number">${count}</td><td><code>${command}</code></td></tr>`).join("")}</tbody></table></section>`;
}

function services(summary: SummaryDocument): string {
  const rows = summary.services.map(
    (service) =>
      `<tr><th scope="row">${escaped(service.name)}</th><td><span class="state ${service.state === "running" ? "good" : "bad"}">${escaped(service.state)}</span></td><td>${escaped(service.detail)}</td></tr>`,
  );
  return `<section><h2>Services</h2><table><tbody>${rows.join("")}</tbody></table></section>`;
}

function loops(facts: PageFacts): string {
  const rows = facts.loops.kinds.map((kind) => {
    const every = kind.everySeconds === undefined ? "no loop" : `every ${duration(kind.everySeconds * 1_000)}`;
    const more =
      kind.withoutLoop ?? (kind.inputs.length === 0 ? "" : `and at once when a ${kind.inputs.join(" or ")} changes`);
    return `<tr><th scope="row">${escaped(kind.kind)}</th><td>${escaped(every)}</td><td>${escaped(more)}</td></tr>`;
  });
  return `<section><h2>Loops</h2><table><tbody>${rows.join("")}</tbody></table></section>`;
}

function plural(count: number, noun: string, rest: string): string {
  return `${counted(count, noun)} ${rest}`;
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
