import { z } from "zod";
import type { BalancerCheck, BalancerService } from "../../ports/load-balancer.ts";
import type { HetznerClient } from "./client.ts";
import { findByName, notReady } from "./listing.ts";
import { certificates } from "./others.ts";

export const serviceShape = z.object({
  protocol: z.enum(["tcp", "http", "https"]),
  listen_port: z.int(),
  destination_port: z.int(),
  proxyprotocol: z.boolean(),
  http: z
    .object({
      cookie_name: z.string().nullish(),
      cookie_lifetime: z.number().nullish(),
      certificates: z.array(z.int()).nullish(),
      redirect_http: z.boolean().nullish(),
      sticky_sessions: z.boolean().nullish(),
    })
    .nullish(),
  health_check: z.object({
    protocol: z.enum(["tcp", "http"]),
    port: z.int(),
    interval: z.int(),
    timeout: z.int(),
    retries: z.int(),
    http: z
      .object({
        domain: z.string().nullish(),
        path: z.string().nullish(),
        response: z.string().nullish(),
        status_codes: z.array(z.string()).nullish(),
        tls: z.boolean().nullish(),
      })
      .nullish(),
  }),
});

const usualCookie = { name: "HCLBSTICKY", lifetimeSeconds: 300 };

export function serviceOf(raw: z.output<typeof serviceShape>): BalancerService {
  const { http } = raw;
  const cookie = http?.cookie_name ?? usualCookie.name;
  const lifetimeSeconds = http?.cookie_lifetime ?? usualCookie.lifetimeSeconds;
  return {
    protocol: raw.protocol,
    listenPort: raw.listen_port,
    targetPort: raw.destination_port,
    proxyProtocol: raw.proxyprotocol,
    redirectHttp: http?.redirect_http ?? false,
    ...(http?.sticky_sessions ? { sticky: { cookie, lifetimeSeconds } } : {}),
    certificates: (http?.certificates ?? []).map(String),
    check: checkOf(raw.health_check),
  };
}

function checkOf(raw: z.output<typeof serviceShape>["health_check"]): BalancerCheck {
  const { protocol, port, interval: everySeconds, timeout: timeoutSeconds, retries, http } = raw;
  const check = { protocol, port, everySeconds, timeoutSeconds, retries };
  if (protocol === "tcp") return check;
  return {
    ...check,
    http: {
      domain: http?.domain ?? "",
      path: http?.path ?? "/",
      response: http?.response ?? "",
      statuses: http?.status_codes ?? [],
      tls: http?.tls ?? false,
    },
  };
}

/** Whole, so that nothing of what was there before stays by being left out. */
export async function rawService(client: HetznerClient, service: BalancerService, signal: AbortSignal) {
  const { protocol, sticky, check } = service;
  const ids: number[] = [];
  for (const name of service.certificates) ids.push(await certificateId(client, name, signal));
  const http = {
    cookie_name: sticky?.cookie ?? usualCookie.name,
    cookie_lifetime: sticky?.lifetimeSeconds ?? usualCookie.lifetimeSeconds,
    sticky_sessions: sticky !== undefined,
    ...(protocol === "https" ? { certificates: ids, redirect_http: service.redirectHttp } : {}),
  };
  return {
    protocol,
    listen_port: service.listenPort,
    destination_port: service.targetPort,
    proxyprotocol: service.proxyProtocol,
    ...(protocol === "tcp" ? {} : { http }),
    health_check: {
      protocol: check.protocol,
      port: check.port,
      interval: check.everySeconds,
      timeout: check.timeoutSeconds,
      retries: check.retries,
      ...(check.http === undefined ? {} : { http: rawHttpCheck(check.http) }),
    },
  };
}

function rawHttpCheck({ domain, path, response, statuses, tls }: NonNullable<BalancerCheck["http"]>) {
  return { domain, path, response, status_codes: statuses, tls };
}

/** Certificates are people's own: any of that name will do. What is in one is never read here. */
async function certificateId(client: HetznerClient, name: string, signal: AbortSignal): Promise<number> {
  const found = await findByName(client, certificates, name, signal);
  if (found !== "absent") return Number(found.id);
  const message = `There is no certificate ${name} in the project: upload it or have it made there, or take it out of the spec`;
  throw notReady(message);
}
