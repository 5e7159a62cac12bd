import { createHash, X509Certificate } from "node:crypto";
import { z } from "zod";
import { epochMsOfIso, isoSecond } from "../../runtime/iso-second.ts";
import { actionRoutesOf } from "./action-routes.ts";
import { actionBody, startAction } from "./actions.ts";
import { bodyOf, labelsSchema, nameSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import {
  actionRoute,
  type Collection,
  createdText,
  deleteRoute,
  getRoute,
  listRoute,
  requireFreeName,
  requireRoom,
  shown,
  updateRoute,
} from "./collection.ts";
import { invalidInput, refused } from "./errors.ts";
import type { Action, Certificate } from "./rows.ts";

const dayMs = 86_400_000;

export const certificates: Collection<"certificates"> = {
  path: "certificates",
  one: "certificate",
  table: "certificates",
  title: "certificate",
  show: (certificate, view) => ({
    id: certificate.id,
    name: certificate.name,
    labels: certificate.labels,
    type: certificate.type,
    certificate: certificate.certificate ?? null,
    created: createdText(certificate),
    not_valid_before: timeOrNull(certificate.notBeforeMs),
    not_valid_after: timeOrNull(certificate.notAfterMs),
    domain_names: certificate.domainNames,
    fingerprint: certificate.fingerprint ?? null,
    status: statusOf(certificate),
    used_by: view.loadBalancers.where("certificate", certificate.id).map(({ id }) => ({ id, type: "load_balancer" })),
  }),
  filters: { type: (certificate, values) => values.includes(certificate.type) },
  choices: { type: ["uploaded", "managed"] },
};

function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : isoSecond(ms);
}

function statusOf({ type, issuance, error }: Certificate): unknown {
  if (type === "uploaded") return null;
  const renewal = issuance === "completed" ? "scheduled" : "unavailable";
  return { issuance: issuance ?? "pending", renewal, error: error ?? null };
}

const createSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("uploaded"),
    name: nameSchema,
    labels: labelsSchema.default({}),
    certificate: z.string().min(1),
    private_key: z.string().regex(/-----BEGIN [A-Z ]*PRIVATE KEY-----/, "is not a private key in PEM format"),
  }),
  z.object({
    type: z.literal("managed"),
    name: nameSchema,
    labels: labelsSchema.default({}),
    domain_names: z.array(z.string().min(1)).min(1),
  }),
]);

const typedSchema = z.preprocess(
  (body) => (typeof body === "object" && body !== null && !("type" in body) ? { ...body, type: "uploaded" } : body),
  createSchema,
);

function createCertificate(call: Call) {
  const body = bodyOf(call, typedSchema);
  requireFreeName(call, certificates, body.name);
  requireRoom(call, certificates);
  const { name, labels } = body;
  const facts = body.type === "uploaded" ? uploaded(body.certificate) : pending(body.domain_names);
  const id = call.nextId();
  const row = call.project.certificates.put({ id, name, labels, createdMs: call.nowMs, ...facts });
  const action = row.type === "managed" ? issue(call, row) : undefined;
  return created({
    certificate: shown(call, certificates, row.id),
    action: action === undefined ? null : actionBody(action, call.nowMs),
  });
}

type Facts = Omit<Certificate, "id" | "name" | "labels" | "createdMs">;

function uploaded(pem: string): Facts {
  try {
    const parsed = new X509Certificate(pem);
    const names = (parsed.subjectAltName ?? "").split(", ").filter((name) => name.startsWith("DNS:"));
    return {
      type: "uploaded",
      certificate: pem,
      domainNames: names.map((name) => name.slice(4)),
      fingerprint: parsed.fingerprint.toLowerCase(),
      notBeforeMs: epochMsOfIso(parsed.validFrom),
      notAfterMs: epochMsOfIso(parsed.validTo),
      issuance: undefined,
      error: undefined,
    };
  } catch {
    throw invalidInput("certificate", "is not a certificate in PEM format");
  }
}

function pending(domainNames: readonly string[]): Facts {
  return {
    type: "managed",
    certificate: undefined,
    domainNames,
    fingerprint: undefined,
    notBeforeMs: undefined,
    notAfterMs: undefined,
    issuance: "pending",
    error: undefined,
  };
}

/** What a managed certificate holds is made up, down to its fingerprint: nobody here signs anything. */
function issue(call: Call, row: Certificate): Action {
  const fingerprint = createHash("sha1")
    .update(`${row.id} ${call.nowMs}`)
    .digest("hex")
    .replace(/(..)(?=.)/g, "$1:");
  const error = { code: "ca_dns_validation_failed", message: "DNS validation failed" };
  return startAction(call, {
    command: "issue_certificate",
    resources: [{ id: row.id, type: "certificate" }],
    effects: [
      {
        table: "certificates",
        id: row.id,
        set: {
          issuance: "completed",
          error: null,
          certificate: `-----BEGIN CERTIFICATE-----\n${fingerprint}\n-----END CERTIFICATE-----\n`,
          fingerprint,
          notBeforeMs: call.nowMs,
          notAfterMs: call.nowMs + 90 * dayMs,
        },
      },
    ],
    otherwise: [{ table: "certificates", id: row.id, set: { issuance: "failed", error } }],
  });
}

export const certificateRoutes: readonly HetznerRoute[] = [
  listRoute(certificates),
  getRoute(certificates),
  { method: "POST", path: "/certificates", answer: createCertificate },
  updateRoute(
    certificates,
    z.object({ name: nameSchema.optional(), labels: labelsSchema.optional() }),
    (certificate, { name = certificate.name, labels = certificate.labels }) => ({ ...certificate, name, labels }),
  ),
  deleteRoute(certificates, (call, { id }) => {
    if (call.project.loadBalancers.where("certificate", id).length === 0) return;
    throw refused("resource_in_use", "certificate is still used by a load balancer", 409);
  }),
  ...actionRoutesOf("certificates", "certificate"),
  actionRoute(certificates, "retry", (call, row) => {
    if (row.issuance !== "failed") throw refused("invalid_input", "the certificate's issuance has not failed");
    const again: Certificate = { ...row, issuance: "pending", error: undefined };
    return issue(call, call.project.certificates.put(again));
  }),
];
