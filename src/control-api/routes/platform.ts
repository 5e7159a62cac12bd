import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import { can } from "../access/can.ts";
import type { ApiContext } from "../context.ts";
import { defineRoute, type Route } from "../route.ts";
import { loopRegistry } from "../loop-registry.ts";
import { loopsSchema, type SummaryDocument, summarySchema } from "../schemas/platform.ts";

const nothing = z.strictObject({});

export function platformRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/loops",
      summary: "The registry of loops: how often each looks, what makes it look sooner, and what has no loop and why",
      need: { at: "self" },
      tag: "platform",
      parameters: nothing,
      answers: { 200: { description: "Every kind there is", schema: loopsSchema } },
      handle: async ({ caller }) => {
        // The registry is public; how busy it is concerns all organizations together.
        if (!can(caller, "platform.loop", "read", ["platform"]).allowed)
          return { status: 200, body: loopRegistry(context.kinds) };
        const measured = { activity: await context.governance.loopActivity(), nowMs: context.clock.nowMs() };
        return { status: 200, body: loopRegistry(context.kinds, measured) };
      },
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

export async function summaryDocument(context: ApiContext): Promise<SummaryDocument> {
  const [summary, services] = await Promise.all([context.reads.summary(), context.services()]);
  const { oldestConfirmedAtMs, ...figures } = summary;
  return {
    ...figures,
    ...(oldestConfirmedAtMs === undefined ? {} : { oldestConfirmedAt: isoTime(oldestConfirmedAtMs) }),
    services: services.map((service) => ({ ...service })),
  };
}
