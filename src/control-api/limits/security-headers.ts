import type { FastifyReply } from "fastify";

/** Nothing here is meant to be shown inside something else, run, or loaded by another site. Pages say what they need. */
export const alwaysHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

const headerList = Object.entries(alwaysHeaders);

/** On every answer, before anything else is decided. Where TLS is used, it is used from then on. */
export function secureReply(reply: FastifyReply, secure: boolean): void {
  for (const [name, value] of headerList) if (!reply.hasHeader(name)) void reply.header(name, value);
  if (secure) void reply.header("strict-transport-security", "max-age=31536000");
}
