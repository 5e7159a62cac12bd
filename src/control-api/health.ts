import type { FastifyInstance } from "fastify";
import { thrownMessage } from "../kernel/errors.ts";
import type { ApiContext } from "./context.ts";

/** For machines that watch us: no token, and nothing that says more than whether we work. */
export function registerHealth(app: FastifyInstance, context: ApiContext): void {
  let leaving = false;
  app.addHook("preClose", async () => {
    leaving = true;
  });
  const answer = async () => {
    try {
      await context.checkDatabase();
      return { code: 200, body: { status: "ok", database: "ok" } };
    } catch (thrown) {
      context.log.warn("api.database-unreachable", {
        message: thrownMessage(thrown),
      });
      return {
        code: 503,
        body: {
          status: "unavailable",
          database: "unreachable",
          detail: "The database does not answer; work resumes by itself when it does.",
        },
      };
    }
  };
  app.get("/healthz", async (_request, reply) => {
    const { code, body } = await answer();
    return await reply.code(code).header("cache-control", "no-store").send(body);
  });
  // Healthy is whether we work, ready is whether we should be sent requests: not while we are on our way out, nor before
  // the database is at our version.
  app.get("/readyz", async (_request, reply) => {
    const waits = leaving
      ? "Shutting down: send requests to another one."
      : await context.notReady?.().catch(() => undefined);
    const { code, body } =
      waits === undefined
        ? await answer()
        : { code: 503, body: { status: "unavailable", database: "ok", detail: waits } };
    return await reply.code(code).header("cache-control", "no-store").send(body);
  });
  app.get("/metrics", async (_request, reply) =>
    reply.type("text/plain; version=0.0.4; charset=utf-8").send(await context.metrics()),
  );
}
