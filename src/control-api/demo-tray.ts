import type { FastifyInstance, FastifyRequest } from "fastify";
import { can } from "./access/can.ts";
import type { ApiContext } from "./context.ts";
import { Problem } from "./problem.ts";

/** Something the demo can break, for people. */
export interface DemoScenario {
  readonly id: string;
  readonly title: string;
  readonly where: "clouds" | "dns" | "setpoint";
  readonly does: string;
  readonly expect: string;
  readonly guard: string;
  readonly youCan: string;
  readonly look: string;
}

/** The demo beside this installation; it breaks things at its own provider, and through this very API. */
export interface Demo {
  readonly organization: string;
  readonly scenarios: readonly DemoScenario[];
  run(id: string): Promise<void>;
}

/** Not part of the API: only for those who keep the installation, who could do all of it anyway. Without a demo the tray is empty. */
export function registerDemoTray(app: FastifyInstance, context: ApiContext): void {
  const { demo } = context;
  const list = async (request: FastifyRequest) => {
    if (demo === undefined || !(await isKeeper(context, request))) return { items: [] };
    return { organization: demo.organization, items: demo.scenarios };
  };
  app.get("/demo/scenarios", (request) => list(request));
  if (demo === undefined) return;
  app.post("/demo/scenarios/:id", async (request, reply) => {
    if (!(await isKeeper(context, request)))
      throw new Problem("FORBIDDEN", "Only those who keep this installation may break its demo");
    const { id } = request.params as { readonly id: string };
    if (!demo.scenarios.some((scenario) => scenario.id === id))
      throw new Problem("NOT_FOUND", `The demo has no scenario "${id.slice(0, 80)}"`);
    await demo.run(id);
    return await reply.code(204).send();
  });
}

async function isKeeper(context: ApiContext, request: FastifyRequest): Promise<boolean> {
  const headers = request.headers as Record<string, string | undefined>;
  const { authorization, cookie } = headers;
  const caller = await context.authenticator.authenticate({ authorization, cookie, method: request.method, headers });
  return can(caller, "platform.freeze", "create", ["platform"]).allowed;
}
