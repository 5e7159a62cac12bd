import { isUtf8 } from "node:buffer";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Caller } from "./access/caller.ts";
import { requireKnownNeeds } from "./access/known-needs.ts";
import { requireStatus } from "./access/organization-status.ts";
import { requireNeed } from "./access/require-need.ts";
import { roleBook } from "./access/roles.ts";
import { registerConsole } from "./console-page.ts";
import type { ApiContext } from "./context.ts";
import { registerDemoTray } from "./demo-tray.ts";
import { toProblem } from "./error-answer.ts";
import { registerHealth } from "./health.ts";
import { once } from "./idempotency.ts";
import { jsonBodyParser } from "./limits/json-body.ts";
import { defaultRequestLimits, registerLimits, serverLimits } from "./limits/request-limits.ts";
import { registerSpans } from "./limits/request-spans.ts";
import { secureReply } from "./limits/security-headers.ts";
import { openApiDocument } from "./openapi.ts";
import { Problem } from "./problem.ts";
import type { Keeping, RequestOrigin, Route, RouteCall } from "./route.ts";
import { accessRoutes } from "./routes/access.ts";
import { accountRoutes } from "./routes/accounts.ts";
import { auditRoutes } from "./routes/audit.ts";
import { credentialRoutes } from "./routes/credentials.ts";
import { driftRoutes } from "./routes/drift.ts";
import { registerSignInPage } from "./identity/sign-in-page.ts";
import { heldChangeRoutes } from "./routes/held-changes.ts";
import { inviteRoutes } from "./routes/invites.ts";
import { memberRoutes } from "./routes/members.ts";
import { meRoutes } from "./routes/identity-me.ts";
import { peopleRoutes } from "./routes/identity-people.ts";
import { sessionRoutes } from "./routes/identity-sessions.ts";
import { operationRoutes } from "./routes/operations.ts";
import { organizationRoutes } from "./routes/organizations.ts";
import { overviewRoutes } from "./routes/overview.ts";
import { pauseRoutes } from "./routes/pauses.ts";
import { planRoutes } from "./routes/plans.ts";
import { platformRoutes } from "./routes/platform.ts";
import { poolRoutes } from "./routes/pool.ts";
import { policyRoutes } from "./routes/policies.ts";
import { proposalRoutes } from "./routes/proposals.ts";
import { quotaRoutes } from "./routes/quotas.ts";
import { resourceRoutes } from "./routes/resources.ts";
import { roleRoutes } from "./routes/roles.ts";
import { scopeRoutes } from "./routes/scopes.ts";
import { secretRoutes } from "./routes/secrets.ts";
import { registerStatusPage } from "./status-page.ts";
import { startStream } from "./watch/answer-stream.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { unknownPath } from "./unknown-path.ts";

const applyType = "application/apply+json";
const longestReason = 500;

export function apiRoutes(context: ApiContext): readonly Route[] {
  return [
    ...sessionRoutes(context),
    ...meRoutes(context),
    ...peopleRoutes(context),
    ...organizationRoutes(context),
    ...scopeRoutes(context),
    ...memberRoutes(context),
    ...inviteRoutes(context),
    ...roleRoutes(context),
    ...accessRoutes(context),
    ...accountRoutes(context),
    ...poolRoutes(context),
    ...auditRoutes(context),
    ...credentialRoutes(context),
    ...secretRoutes(context),
    ...heldChangeRoutes(context),
    ...operationRoutes(context),
    ...pauseRoutes(context),
    ...policyRoutes(context),
    ...driftRoutes(context),
    ...webhookRoutes(context),
    ...planRoutes(context),
    ...platformRoutes(context),
    ...overviewRoutes(context),
    ...resourceRoutes(context),
    ...quotaRoutes(context),
    ...proposalRoutes(context),
  ];
}

/** The Control API as a value: tests put requests into it without a port. */
export function createApp(context: ApiContext): FastifyInstance {
  const limits = context.limits ?? defaultRequestLimits;
  const app = fastify({
    logger: false,
    ...serverLimits(context, limits),
    // Long names are refused where their rule is known; the router itself only bounds what it looks at.
    routerOptions: { maxParamLength: 8_192 },
    frameworkErrors: (thrown, request, reply) => answerProblem(context, thrown, request, reply),
    return503OnClosing: true,
    // Only where a proxy is known to stand in front is it believed whom it speaks for, and only from this machine.
    trustProxy: context.identity.publicUrl === undefined ? false : "loopback",
  });
  const callers: Callers = new WeakMap();
  if (context.tracer !== undefined) registerSpans(app, context.tracer);
  const charge = registerLimits(app, context, limits);
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("x-request-id", request.id);
    if (!isGuarded(request) || isOpen(request)) return;
    const caller = await callerOf(context, request).catch((thrown: unknown) => {
      charge(request, reply, undefined);
      throw thrown;
    });
    callers.set(request, caller);
    charge(request, reply, caller);
  });
  app.addHook("onResponse", async (request, reply) => logRequest(context, request, reply));
  // Fields that one owner applies are JSON of a type of their own: nobody merges by accident.
  app.addContentTypeParser(applyType, { parseAs: "buffer" }, jsonBodyParser);
  // Watches never end by themselves; whoever waits for them to end would wait for ever.
  app.addHook("preClose", async () => context.watches.close());
  app.setErrorHandler((thrown, request, reply) => answerProblem(context, thrown, request, reply));
  app.setNotFoundHandler((request) => {
    throw unknownPath(context, request.method, request.url);
  });
  registerHealth(app, context);
  registerStatusPage(app, context, context.console === undefined ? ["/", "/status"] : ["/status"]);
  if (context.console !== undefined) registerConsole(app, context.console);
  registerDemoTray(app, context);
  registerSignInPage(app, context);
  const routes = apiRoutes(context);
  requireKnownNeeds(routes, roleBook(context).catalogue);
  registerRoutes(app, routes, (...call) => serve(context, callers, ...call));
  // Made when it is first asked for: it is a good part of what a start takes, and most processes are never asked.
  let document: ReturnType<typeof openApiDocument> | undefined;
  app.get("/v1/openapi.json", async () => (document ??= openApiDocument(routes, context.version)));
  return app;
}

interface RouteConfig {
  readonly open: boolean;
}

/** By the route that was found, too: an address can be spelled in many ways, and each of them leads to it. */
function isGuarded({ url, routeOptions }: FastifyRequest): boolean {
  return [url, routeOptions.url ?? ""].some((path) => path === "/v1" || path.startsWith("/v1/"));
}

function isOpen(request: FastifyRequest): boolean {
  return (request.routeOptions.config as Partial<RouteConfig>).open === true;
}

type Callers = WeakMap<FastifyRequest, Caller>;

async function callerOf(context: ApiContext, request: FastifyRequest): Promise<Caller> {
  const headers = request.headers as Record<string, string | undefined>;
  const { authorization, cookie } = headers;
  return context.authenticator.authenticate({ authorization, cookie, method: request.method, headers });
}

/** The caller as the audit trail will name it. */
function acting(caller: Caller, request: FastifyRequest): Caller {
  const { type, id } = caller.credential;
  const { requestId, address } = originOf(request);
  const via = { credential: `${type}/${id}`, address, requestId, ...reasonOf(request) };
  return { ...caller, principal: { ...caller.principal, via } };
}

/** Why, in the caller's own words: they are kept with what was done. */
function reasonOf(request: FastifyRequest): { readonly reason?: string } {
  const given = request.headers["setpoint-reason"];
  if (typeof given !== "string" || given.trim() === "") return {};
  return { reason: textOfHeader(given).trim().slice(0, longestReason) };
}

/** A header is bytes: those that are UTF-8 are read as that, and all others as Latin-1, as HTTP has it. */
function textOfHeader(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  return bytes.toString("latin1") === value && isUtf8(bytes) ? bytes.toString("utf8") : value;
}

function originOf(request: FastifyRequest): RequestOrigin {
  return {
    requestId: request.id,
    address: request.ip,
    userAgent: request.headers["user-agent"]?.slice(0, 200),
    secure: request.protocol === "https",
  };
}

/** `{name}:reconcile` and `{name}` share a path in fastify, so the verbs of one path are served by one handler. */
function registerRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  handle: (byVerb: ReadonlyMap<string, Route>, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  const verbs = Map.groupBy(routes, (route) => `${route.method} ${route.path.replace(/:(\w+)$/, "")}`);
  for (const group of verbs.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const byVerb = new Map(group.map((route) => [/:(\w+)$/.exec(route.path)?.[1] ?? "", route]));
    const url = first.path.replace(/:(\w+)$/, "").replace(/\{(\w+)\}/g, ":$1");
    const config: RouteConfig = { open: group.every((route) => route.need.at === "nobody") };
    app.route({ method: first.method, url, config, handler: (request, reply) => handle(byVerb, request, reply) });
  }
}

async function serve(
  context: ApiContext,
  callers: Callers,
  byVerb: ReadonlyMap<string, Route>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const parameters = { ...(request.params as Record<string, string>) };
  const verb = byVerb.size === 1 && byVerb.has("") ? "" : splitVerb(parameters);
  const route = byVerb.get(verb);
  if (route === undefined) {
    throw new Problem(
      "NOT_FOUND",
      `There is no action "${verb}" here. Actions: ${[...byVerb.keys()].filter((name) => name !== "").join(", ")}`,
    );
  }
  if (route.body === undefined && hasContent(request.body))
    throw new Problem("BODY_INVALID", "This request takes no body");
  const values = parsed(route.parameters, parameters, "path");
  // Before anything else is looked at: whoever may not do this learns nothing from the other checks.
  const caller = callers.get(request);
  if (route.need.at !== "nobody") {
    if (caller === undefined) throw new Problem("INTERNAL", "A route was reached without a caller");
    requireNeed(route, caller, values, context.clock);
    await requireStatus(context, route, values);
  }
  const call = {
    parameters: values,
    query: route.query === undefined ? refuseQuery(request.query) : parsed(route.query, request.query, "query"),
    body: route.body === undefined ? undefined : parsed(route.body, request.body ?? undefined, "body"),
    headers: request.headers as Record<string, string | undefined>,
    origin: originOf(request),
    ...(caller === undefined ? {} : { caller: acting(caller, request) }),
  };
  // An open route is given no caller, and its type does not have one.
  const key = call.headers["idempotency-key"];
  const handle = (keeping: Keeping | undefined) =>
    route.handle({ ...call, keeping } as RouteCall<unknown, unknown, unknown>);
  const answer = await once(context, { ...call, route, caller, key }, handle);
  if (answer.stream !== undefined) return startStream(reply, answer);
  void reply
    .code(answer.status)
    .headers({ ...answer.headers } as Record<string, string | string[]>)
    .header("cache-control", "no-store");
  return answer.body;
}

/** The last parameter carries the verb behind its last colon; names have none. */
function splitVerb(parameters: Record<string, string>): string {
  const last = Object.keys(parameters).at(-1) ?? "";
  const [name = "", verb = ""] = (parameters[last] ?? "").split(":");
  parameters[last] = name;
  return verb;
}

function hasContent(body: unknown): boolean {
  return typeof body === "object" && body !== null ? Object.keys(body).length > 0 : body !== undefined && body !== null;
}

function refuseQuery(query: unknown): unknown {
  const [name] = Object.keys(query as Record<string, unknown>);
  if (name === undefined) return {};
  throw new Problem("FIELDS_INVALID", `There is no query parameter "${name}" here`, {
    errors: [{ pointer: `/${name}`, message: "unknown query parameter" }],
  });
}

function parsed(schema: z.ZodType, value: unknown, where: "path" | "query" | "body"): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.map((issue) => {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [];
    const path = [...issue.path, ...keys.slice(0, 1)]
      .map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`)
      .join("");
    return {
      pointer: path,
      message: keys.length > 0 ? `unknown field${keys.length > 1 ? "s" : ""}: ${keys.join(", ")}` : issue.message,
    };
  });
  const [first] = errors;
  throw new Problem("FIELDS_INVALID", `The ${where} is not valid: ${first?.pointer ?? ""}: ${first?.message ?? ""}`, {
    errors,
  });
}

function answerProblem(context: ApiContext, thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(thrown);
  secureReply(reply, request.protocol === "https");
  if (problem.status >= 500) {
    const cause = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    context.log.error("api.failed", { requestId: request.id, method: request.method, url: pathOf(request), cause });
  }
  if (problem.code === "UNAUTHENTICATED") void reply.header("www-authenticate", 'Bearer realm="setpoint"');
  if (problem.details.retryAfterSeconds !== undefined)
    void reply.header("retry-after", String(problem.details.retryAfterSeconds));
  void reply
    .code(problem.status)
    .header("cache-control", "no-store")
    .type("application/problem+json")
    .send(JSON.stringify(problem.toDocument(request.id)));
}

/** Without the query: what people put there by mistake is often a token. */
function pathOf({ url }: FastifyRequest): string {
  return url.split("?")[0] ?? url;
}

function logRequest(context: ApiContext, request: FastifyRequest, reply: FastifyReply): void {
  const quiet =
    request.url === "/healthz" || request.url === "/readyz" || request.url === "/metrics" || request.method === "GET";
  const fields = {
    requestId: request.id,
    method: request.method,
    url: pathOf(request),
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime),
  };
  if (quiet) context.log.debug("api.request", fields);
  else context.log.info("api.request", fields);
}
