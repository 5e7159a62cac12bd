import { z } from "zod";
import type { Cloud } from "./cloud.ts";
import type { WorldRequest } from "./exchange.ts";
import { faultSchema } from "./fault-schema.ts";
import { type Route, Router } from "./router.ts";
import type { World } from "./world.ts";

/** A request to the world itself that cannot be met, and why. */
export class AdminError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "AdminError";
    this.status = status;
  }
}

export interface AdminCall {
  readonly world: World;
  readonly request: WorldRequest;
  readonly params: Readonly<Record<string, string>>;
}

const ok = (body: unknown) => ({ status: 200, body });
const made = (body: unknown) => ({ status: 201, body });
const gone = { status: 204, body: undefined };

function bodyOf<S extends z.ZodType>({ request }: AdminCall, schema: S): z.output<S> {
  const parsed = schema.safeParse(jsonOf(request.body));
  if (parsed.success) return parsed.data;
  throw new AdminError(422, `The body does not fit: ${z.prettifyError(parsed.error)}`);
}

function jsonOf(text: string): unknown {
  try {
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    throw new AdminError(400, "The body is not JSON.");
  }
}

function cloudOf({ world, params }: AdminCall, name = params["cloud"]): Cloud {
  const cloud = world.clouds.find((each) => each.name === name);
  if (cloud !== undefined) return cloud;
  const names = world.clouds.map((each) => each.name).join(", ");
  throw new AdminError(404, `There is no cloud "${name ?? ""}" in this world. There are: ${names}.`);
}

function accountOf(cloud: Cloud, name: string | undefined): string {
  if (name !== undefined && cloud.book.names().includes(name)) return name;
  const names = cloud.book.names().join(", ");
  throw new AdminError(404, `${cloud.name} has no ${cloud.accountWord} "${name ?? ""}" here. There are: ${names}.`);
}

const accountSchema = z.strictObject({
  cloud: z.string(),
  account: z.string().regex(/^[a-z][a-z0-9]{0,39}$/, "must be up to 40 small letters and digits, a letter first"),
});

/** What goes wrong while a saved world is read was in the file, and nothing of it was taken over. */
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof z.ZodError)) throw thrown;
    throw new AdminError(422, `The body does not fit: ${z.prettifyError(thrown)}`);
  }
}

function overview({ world }: AdminCall) {
  const { time, settings, tray } = world.core;
  return ok({
    nowMs: time.nowMs,
    settings,
    faults: tray.list().length,
    clouds: world.clouds.map((cloud) => ({
      name: cloud.name,
      basePath: cloud.basePath,
      accounts: cloud.book.names(),
      tokens: cloud.book.tokens(),
    })),
  });
}

function addAccountOf(call: AdminCall) {
  const { cloud: name, account } = bodyOf(call, accountSchema);
  const cloud = cloudOf(call, name);
  if (cloud.book.names().includes(account)) throw new AdminError(409, `${name} has "${account}" already.`);
  cloud.book.add(account);
  return made({ cloud: name, account, tokens: cloud.book.tokens().filter((token) => token.account === account) });
}

function addTokenOf(call: AdminCall) {
  const schema = z.strictObject({
    cloud: z.string(),
    account: z.string(),
    access: z.enum(["read-write", "read"]).default("read-write"),
    token: z.string().regex(/^[\x21-\x7e]{8,512}$/, "must be 8 to 512 visible characters"),
  });
  const { cloud: name, account, access, token } = bodyOf(call, schema);
  const cloud = cloudOf(call, name);
  cloud.book.addToken({ token, account: accountOf(cloud, account), access });
  return made({ cloud: name, account, access, token });
}

function revokeTokenOf(call: AdminCall) {
  const revoked = call.world.clouds.some((cloud) => cloud.book.revokeToken(call.params["token"] ?? ""));
  if (!revoked) throw new AdminError(404, "There is no such token in this world.");
  return gone;
}

/** A fault that is aimed at nothing would never strike, and whoever laid it would take that for an answer. */
function placeFault(call: AdminCall) {
  const { world } = call;
  const fault = bodyOf(call, faultSchema);
  const clouds = world.clouds.filter(({ name }) => fault.cloud === undefined || fault.cloud === name);
  const requireOne = (field: string, wanted: string | undefined, known: readonly string[]) => {
    if (wanted === undefined || known.includes(wanted)) return;
    const names = [...new Set(known)].join(", ");
    throw new AdminError(422, `There is no ${field} "${wanted}" that it could strike. There are: ${names}.`);
  };
  const accounts = clouds.flatMap(({ book }) => book.names());
  requireOne("account", fault.account, accounts);
  if (fault.kind === "other-account") requireOne("account", fault.as, accounts);
  if (fault.kind === "no-capacity" || fault.kind === "region-outage")
    requireOne(
      "location",
      fault.location,
      clouds.flatMap(({ locations }) => locations),
    );
  return made(world.core.tray.place(fault));
}

function requestsAfter({ world, request }: AdminCall) {
  const after = request.query.get("after") ?? "0";
  if (!/^\d{1,15}$/.test(after))
    throw new AdminError(422, `after=${after} is no number of a request: take the last "number" that you have seen.`);
  return ok({ requests: world.log.after(Number(after)) });
}

function takeFault({ world, params }: AdminCall) {
  if (world.core.tray.take(Number(params["id"]))) return gone;
  throw new AdminError(404, `There is no fault ${params["id"] ?? ""} in the tray.`);
}

function changeSettings(call: AdminCall) {
  const schema = z.strictObject({
    pace: z.number().min(0).max(1_000).optional(),
    listLagSeconds: z.number().min(0).max(900).optional(),
    pageMax: z.int().min(1).max(10_000).nullable().optional(),
  });
  const { settings } = call.world.core;
  const { pace = settings.pace, listLagSeconds = settings.listLagSeconds, pageMax } = bodyOf(call, schema);
  const most = pageMax === undefined ? settings.pageMax : (pageMax ?? undefined);
  return ok(Object.assign(settings, { pace, listLagSeconds, pageMax: most }));
}

function passTime(call: AdminCall) {
  const { advanceSeconds } = bodyOf(call, z.strictObject({ advanceSeconds: z.number().min(0).max(31_536_000) }));
  call.world.advance(Math.round(advanceSeconds * 1_000));
  return ok({ nowMs: call.world.core.time.nowMs });
}

function fillAccount(call: AdminCall) {
  const schema = z.strictObject({
    cloud: z.string(),
    account: z.string(),
    servers: z.int().min(0).max(200_000),
    prefix: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,30}$/)
      .default("filled"),
    labels: z.record(z.string(), z.string()).default({}),
  });
  const { cloud: name, account, ...wanted } = bodyOf(call, schema);
  const cloud = cloudOf(call, name);
  return made({ servers: cloud.fill(accountOf(cloud, account), wanted) });
}

/** Somebody in the provider's console: any request of the API, for the account that the path names. */
function byConsole(call: AdminCall) {
  const { world, request, params } = call;
  const cloud = cloudOf(call);
  const account = accountOf(cloud, params["account"]);
  const base = `/_world/console/${cloud.name}/${params["account"] ?? ""}`;
  return world.asConsole(cloud, account, request, request.path.slice(base.length));
}

const consoleRoutes = ["GET", "POST", "PUT", "PATCH", "DELETE"].flatMap((method) =>
  Array.from({ length: 9 }, (_, depth) => ({
    method,
    path: `/_world/console/{cloud}/{account}${Array.from({ length: depth + 1 }, (_, at) => `/{part${at}}`).join("")}`,
    answer: byConsole,
  })),
);

const routes: readonly Route<AdminCall>[] = [
  { method: "GET", path: "/_world", answer: overview },
  { method: "GET", path: "/_world/state", answer: ({ world }) => ok(world.save()) },
  {
    method: "PUT",
    path: "/_world/state",
    answer: (call) => {
      refusing(() => call.world.load(jsonOf(call.request.body)));
      return gone;
    },
  },
  { method: "GET", path: "/_world/faults", answer: ({ world }) => ok({ faults: world.core.tray.list() }) },
  { method: "POST", path: "/_world/faults", answer: placeFault },
  {
    method: "DELETE",
    path: "/_world/faults",
    answer: ({ world }) => {
      world.core.tray.clear();
      return gone;
    },
  },
  { method: "DELETE", path: "/_world/faults/{id}", answer: takeFault },
  { method: "GET", path: "/_world/requests", answer: requestsAfter },
  { method: "GET", path: "/_world/requests/counts", answer: ({ world }) => ok(world.log.counts()) },
  {
    method: "DELETE",
    path: "/_world/requests",
    answer: ({ world }) => {
      world.log.clear();
      return gone;
    },
  },
  { method: "PATCH", path: "/_world/settings", answer: changeSettings },
  { method: "POST", path: "/_world/clock", answer: passTime },
  { method: "POST", path: "/_world/accounts", answer: addAccountOf },
  {
    method: "PATCH",
    path: "/_world/accounts/{cloud}/{account}",
    answer: (call) => {
      const cloud = cloudOf(call);
      const account = accountOf(cloud, call.params["account"]);
      return ok(refusing(() => cloud.configure(account, jsonOf(call.request.body))));
    },
  },
  { method: "POST", path: "/_world/tokens", answer: addTokenOf },
  { method: "DELETE", path: "/_world/tokens/{token}", answer: revokeTokenOf },
  { method: "POST", path: "/_world/fill", answer: fillAccount },
  ...consoleRoutes,
];

export const adminRouter = new Router<AdminCall>(routes);
