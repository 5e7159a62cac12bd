import { z } from "zod";
import type { ApiContext } from "../context.ts";
import { isoTime } from "../iso-time.ts";
import { defineRoute, type Route } from "../route.ts";
import { type LoopsDocument, loopsSchema, type SummaryDocument, summarySchema } from "../schemas/platform.ts";
import { verdictLimitMs } from "../verdict-age.ts";

const nothing = z.strictObject({});

export function platformRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/loops",
      summary: "The registry of loops: how often each looks, what makes it look sooner, and what has no loop and why",
      need: { at: "platform", key: "platform.loop", action: "read" },
      tag: "platform",
      parameters: nothing,
      answers: { 200: { description: "Every kind there is", schema: loopsSchema } },
      handle: async () => ({ status: 200, body: loopsDocument(context) }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/summary",
      summary: "Figures of the whole platform",
      need: { at: "platform", key: "platform.summary", action: "read" },
      tag: "platform",
      parameters: nothing,
      answers: { 200: { description: "Figures", schema: summarySchema } },
      handle: async () => ({ status: 200, body: await summaryDocument(context) }),
    }),
  ];
}

export function loopsDocument(context: ApiContext): LoopsDocument {
  const kinds = [...context.kinds.values()].map((kind) => ({
    kind: kind.kind,
    plural: kind.plural,
    scopes: [...kind.scopes],
    modeRequired: kind.modeRequired,
    inputs: [...(kind.loop?.inputs ?? [])],
    ...(kind.loop === undefined
      ? {}
      : { everySeconds: kind.loop.everySeconds, verdictLimitSeconds: verdictLimitMs(kind.loop.everySeconds) / 1_000 }),
    ...(kind.withoutLoop === undefined ? {} : { withoutLoop: kind.withoutLoop }),
  }));
  return { kinds };
}

export async function summaryDocument(context: ApiContext): Promise<SummaryDocument> {
  const [summary, services] = await Promise.all([context.reads.summary(), context.services()]);
  const { oldestConfirmedAtMs, ...figures } = summary;
  return {
    ...figures,
    ...(oldestConfirmedAtMs === undefined ? {} : { oldestConfirmedAt: isoTime(oldestConfirmedAtMs) }),
    services: services.map((service) => ({ ...service })),
  };
}
