import { createHash } from "node:crypto";
import { z } from "zod";
import { bodyOf, labelsSchema, nameSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import {
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
import { HetznerError, invalidInput } from "./errors.ts";

export const sshKeys: Collection<"sshKeys"> = {
  path: "ssh_keys",
  one: "ssh_key",
  table: "sshKeys",
  title: "SSH key",
  show: (key) => ({
    id: key.id,
    name: key.name,
    fingerprint: key.fingerprint,
    public_key: key.publicKey,
    labels: key.labels,
    created: createdText(key),
  }),
  sortedBy: ["id", "name"],
  filters: { fingerprint: (key, values) => values.includes(key.fingerprint) },
};

const createSchema = z.object({
  name: nameSchema,
  public_key: z.string().min(1),
  labels: labelsSchema.default({}),
});

function createSshKey(call: Call) {
  const body = bodyOf(call, createSchema);
  const publicKey = body.public_key.trim();
  const [, blob] =
    /^(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\S+|sk-\S+) ([A-Za-z0-9+/]+=*)(?: .*)?$/.exec(publicKey) ?? [];
  if (blob === undefined) throw invalidInput("public_key", "is not a valid SSH key");
  const digest = createHash("md5").update(Buffer.from(blob, "base64")).digest("hex");
  const fingerprint = digest.replace(/(..)(?=.)/g, "$1:");
  requireFreeName(call, sshKeys, body.name);
  if (call.project.sshKeys.where("fingerprint", fingerprint).length > 0) {
    throw new HetznerError(409, "uniqueness_error", "SSH key with the same fingerprint already exists", {
      fields: [{ name: "public_key" }],
    });
  }
  requireRoom(call, sshKeys);
  const { name, labels } = body;
  const id = call.nextId();
  call.project.sshKeys.put({ id, name, labels, createdMs: call.nowMs, publicKey, fingerprint });
  return created({ ssh_key: shown(call, sshKeys, id) });
}

export const sshKeyRoutes: readonly HetznerRoute[] = [
  listRoute(sshKeys),
  getRoute(sshKeys),
  { method: "POST", path: "/ssh_keys", answer: createSshKey },
  updateRoute(
    sshKeys,
    z.object({ name: nameSchema.optional(), labels: labelsSchema.optional() }),
    (key, { name = key.name, labels = key.labels }) => ({ ...key, name, labels }),
  ),
  deleteRoute(sshKeys),
];
