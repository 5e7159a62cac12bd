import type { Kind, KindRegistry } from "../kernel/kind.ts";
import { dnsRecordKind } from "./dns-record/kind.ts";
import { dnsZoneKind } from "./dns-zone/kind.ts";

/** Every kind there is. A kind that is not listed here does not exist. */
export const kinds: KindRegistry = new Map<string, Kind>([dnsRecordKind, dnsZoneKind].map((kind) => [kind.kind, kind]));
