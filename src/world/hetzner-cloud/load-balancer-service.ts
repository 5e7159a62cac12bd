import { z } from "zod";
import type { JsonObject } from "../../ports/json.ts";
import { idSchema } from "./body.ts";
import type { Call } from "./call.ts";
import { loadBalancerTypeNamed } from "./catalogue/load-balancer-types.ts";
import { invalidInput, notFound, overLimit, refused } from "./errors.ts";
import type { HealthCheck, LoadBalancer, LoadBalancerHttp, LoadBalancerService } from "./rows.ts";

const portSchema = z.int().min(1).max(65_535);
const protocolSchema = z.enum(["tcp", "http", "https"]);
const httpSchema = z.object({
  cookie_name: z.string().optional(),
  cookie_lifetime: z.int().optional(),
  certificates: z.array(idSchema).optional(),
  redirect_http: z.boolean().optional(),
  sticky_sessions: z.boolean().optional(),
});
const checkSchema = z.object({
  protocol: z.enum(["tcp", "http"]).optional(),
  port: portSchema.optional(),
  interval: z.int().min(1).optional(),
  timeout: z.int().min(1).optional(),
  retries: z.int().min(0).optional(),
  http: z
    .object({
      domain: z.string().nullish(),
      path: z.string().optional(),
      response: z.string().nullish(),
      status_codes: z.array(z.string()).optional(),
      tls: z.boolean().optional(),
    })
    .nullish(),
});

export const serviceSchema = z.object({
  protocol: protocolSchema,
  listen_port: portSchema.optional(),
  destination_port: portSchema.optional(),
  proxyprotocol: z.boolean().optional(),
  http: httpSchema.optional(),
  health_check: checkSchema.optional(),
});
export const serviceUpdateSchema = serviceSchema.extend({
  protocol: protocolSchema.optional(),
  listen_port: portSchema,
});
type ServiceInput = z.output<typeof serviceUpdateSchema> | z.output<typeof serviceSchema>;

/** A service as asked for; what is left out is as it was, or as it usually is. */
export function serviceOf(wanted: ServiceInput, before?: LoadBalancerService): LoadBalancerService {
  const protocol = wanted.protocol ?? before?.protocol ?? "tcp";
  const usualPort = protocol === "https" ? 443 : protocol === "http" ? 80 : undefined;
  const listenPort = wanted.listen_port ?? usualPort;
  if (listenPort === undefined) throw invalidInput("listen_port", "is required for tcp");
  const destinationPort =
    wanted.destination_port ?? before?.destinationPort ?? (protocol === "https" ? 80 : (usualPort ?? listenPort));
  return {
    protocol,
    listenPort,
    destinationPort,
    proxyprotocol: wanted.proxyprotocol ?? before?.proxyprotocol ?? false,
    http: protocol === "tcp" ? undefined : httpOf(wanted.http, before?.http),
    healthCheck: checkOf(wanted.health_check, before?.healthCheck, { protocol, destinationPort }),
  };
}

function httpOf(wanted: z.output<typeof httpSchema> = {}, before?: LoadBalancerHttp): LoadBalancerHttp {
  return {
    cookieName: wanted.cookie_name ?? before?.cookieName ?? "HCLBSTICKY",
    cookieLifetime: wanted.cookie_lifetime ?? before?.cookieLifetime ?? 300,
    certificates: wanted.certificates ?? before?.certificates ?? [],
    redirectHttp: wanted.redirect_http ?? before?.redirectHttp ?? false,
    stickySessions: wanted.sticky_sessions ?? before?.stickySessions ?? false,
  };
}

function checkOf(
  wanted: z.output<typeof checkSchema> = {},
  before: HealthCheck | undefined,
  usual: { readonly protocol: string; readonly destinationPort: number },
): HealthCheck {
  const protocol = wanted.protocol ?? before?.protocol ?? (usual.protocol === "tcp" ? "tcp" : "http");
  const usualHttp = { domain: "", path: "/", response: "", status_codes: ["2??", "3??"], tls: false };
  const given = Object.entries(wanted.http ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const http: JsonObject = { ...usualHttp, ...before?.http, ...Object.fromEntries(given) };
  return {
    protocol,
    port: wanted.port ?? before?.port ?? usual.destinationPort,
    interval: wanted.interval ?? before?.interval ?? 15,
    timeout: wanted.timeout ?? before?.timeout ?? 10,
    retries: wanted.retries ?? before?.retries ?? 3,
    http: protocol === "http" ? http : undefined,
  };
}

export function serviceBody(service: LoadBalancerService): unknown {
  const { http, healthCheck } = service;
  return {
    protocol: service.protocol,
    listen_port: service.listenPort,
    destination_port: service.destinationPort,
    proxyprotocol: service.proxyprotocol,
    ...(http === undefined
      ? {}
      : {
          http: {
            cookie_name: http.cookieName,
            cookie_lifetime: http.cookieLifetime,
            certificates: http.certificates,
            redirect_http: http.redirectHttp,
            sticky_sessions: http.stickySessions,
          },
        }),
    health_check: {
      protocol: healthCheck.protocol,
      port: healthCheck.port,
      interval: healthCheck.interval,
      timeout: healthCheck.timeout,
      retries: healthCheck.retries,
      ...(healthCheck.http === undefined ? {} : { http: healthCheck.http }),
    },
  };
}

/** The service, once it is known to fit beside the others. */
export function checkedService(call: Call, balancer: LoadBalancer, service: LoadBalancerService): LoadBalancerService {
  const type = loadBalancerTypeNamed(balancer.loadBalancerType);
  if (balancer.services.length >= type.max_services) throw overLimit("load_balancer_service_limit");
  if (balancer.services.some(({ listenPort }) => listenPort === service.listenPort)) {
    throw refused("source_port_already_used", "the source port you are trying to add is already in use");
  }
  requireCertificates(call, service);
  return service;
}

export function requireCertificates(call: Call, { protocol, http }: LoadBalancerService): void {
  for (const id of http?.certificates ?? []) {
    if (call.project.certificates.get(id) === undefined) throw notFound("certificate", id);
  }
  if (protocol === "https" && (http?.certificates.length ?? 0) === 0) {
    throw invalidInput("http.certificates", "is required for https");
  }
}
