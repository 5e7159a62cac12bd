import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** One file of the built console, ready to be sent. */
export interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  /** The same, compressed, where that is smaller. */
  readonly gzip: Buffer | undefined;
}

/** The built console: its page, and its files by their path below /assets/. */
export interface ConsoleFiles {
  readonly page: ConsoleFile;
  readonly assets: ReadonlyMap<string, ConsoleFile>;
}

/** Scripts, styles, letters and answers of this server alone; nothing inline, nothing framed, nothing sent elsewhere. */
const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Pages of the console; each of them is the same document, and its script shows what the address names. */
const pages = ["/", "/o", "/o/*", "/me"];

export function registerConsole(app: FastifyInstance, files: ConsoleFiles): void {
  for (const path of pages)
    app.get(path, (request, reply) => send(request, reply, files.page, { "cache-control": "no-cache" }));
  app.get("/assets/*", (request, reply) => {
    const { "*": name = "" } = request.params as Record<string, string>;
    const file = files.assets.get(name);
    if (file === undefined) return reply.callNotFound();
    // The name changes with the content, so nobody has to ask twice.
    return send(request, reply, file, { "cache-control": "public, max-age=31536000, immutable" });
  });
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, body, gzip }: ConsoleFile,
  headers: Readonly<Record<string, string>>,
): FastifyReply {
  // A script that runs beside the page, as a worker, has the policy it came with and not the page's.
  const policy = { "content-security-policy": consolePolicy, "x-content-type-options": "nosniff" };
  void reply.headers({ ...headers, ...policy, vary: "accept-encoding" }).type(type);
  if (gzip === undefined || !/\bgzip\b/.test(request.headers["accept-encoding"] ?? "")) return reply.send(body);
  return reply.header("content-encoding", "gzip").send(gzip);
}
