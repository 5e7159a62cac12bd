import { isoTime } from "../../kernel/iso-time.ts";
import type { SealedEntry } from "../../ports/read-store.ts";
import type { AuditEntryDocument } from "../schemas/audit.ts";

/** An entry of the log as people read it. */
export function entryDocument(entry: SealedEntry): AuditEntryDocument {
  const { position, atMs, type, actor, trail, organizationId, uid, revision, data, hash } = entry;
  const { type: actorType, credential, address, requestId, reason, before, after } = trail ?? {};
  return {
    position,
    at: isoTime(atMs),
    type,
    actor,
    ...(actorType === undefined ? {} : { actorType }),
    ...(credential === undefined ? {} : { credential }),
    ...(address === undefined ? {} : { address }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(reason === undefined ? {} : { reason }),
    organizationId,
    ...(uid === undefined ? {} : { resource: uid }),
    ...(revision === undefined ? {} : { revision }),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    data,
    hash,
  };
}
