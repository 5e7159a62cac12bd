import type { DnsQueries } from "./dns-queries.ts";

/** What a kind may ask of any DNS provider. Names are absolute, lower case, with the trailing dot; values are in presentation format. */

export interface DnsRecordSet {
  readonly name: string;
  readonly type: string;
  readonly ttlSeconds: number;
  readonly values: readonly string[];
  /** Values the provider keeps and does not serve. */
  readonly disabledValues: readonly string[];
  /** A lock of the provider that keeps it from being changed, in the provider's words. */
  readonly lockedBy?: string | undefined;
}

/** What a provider can express. Known before any call, so that what it cannot is refused where it is declared. */
export interface DnsCapabilities {
  readonly types: readonly string[];
  /** The provider stores a smaller TTL as this one. */
  readonly leastTtlSeconds: number;
  readonly mostTtlSeconds: number;
  /** All values of one record set together, as they stand in presentation format. */
  readonly mostSetCharacters?: number | undefined;
  readonly mostSetValues?: number | undefined;
  /** Several record sets are changed by one call, all of them or none. Else each of them is a call for itself. */
  readonly changesTogether: boolean;
  readonly makesZones: boolean;
  readonly signsZones: boolean;
}

export interface DnsReader {
  readonly capabilities: DnsCapabilities;
  /** How the world sees the zone: questions to any server. */
  readonly queries?: DnsQueries | undefined;
  /**
   * Everything in the zone in one read; undefined only when the provider says that it has no such zone. While the server's
   * serial says that nothing changed, the list of the last read is handed out again, unless `fresh` asks for a real one.
   */
  zone(
    zone: string,
    signal: AbortSignal,
    options?: { readonly fresh?: boolean },
  ): Promise<readonly DnsRecordSet[] | undefined>;
  /** One record set. "no-zone" is never "absent": a provider that lost a zone says nothing about its records. */
  recordSet(
    request: { readonly zone: string; readonly name: string; readonly type: string },
    signal: AbortSignal,
  ): Promise<DnsRecordSet | "absent" | "no-zone">;
}

/** A zone as a whole, at a provider that can make zones. */
export interface DnsZoneFacts {
  /** The names that its own NS records have. */
  readonly nameservers: readonly string[];
  readonly signed: boolean;
  /** Record sets in it, its SOA and NS left out. */
  readonly recordSets: number;
}

export interface DnsZoneReader extends DnsReader {
  facts(zone: string, signal: AbortSignal): Promise<DnsZoneFacts | "absent">;
  /** The name servers that the world is sent to for this zone; empty: to none. Asked by real queries. */
  delegation(zone: string, signal: AbortSignal): Promise<readonly string[]>;
}

export interface DnsZoneWriter extends DnsWriter {
  createZone(zone: string, nameservers: readonly string[], signal: AbortSignal): Promise<void>;
  /** Deleting what is gone is a success. */
  deleteZone(zone: string, signal: AbortSignal): Promise<void>;
  signZone(zone: string, signal: AbortSignal): Promise<void>;
}

export type DnsChange = (
  | { readonly action: "replace"; readonly recordSet: Omit<DnsRecordSet, "disabledValues"> }
  | { readonly action: "delete"; readonly name: string; readonly type: string }
) & {
  /** The values it was last seen with. A server that can check that changes nothing where it is not so. */
  readonly seen?: readonly string[] | "absent" | undefined;
};

export interface DnsWriter {
  /**
   * All of the changes or none of them; where they are too many for one call of the server, each call for itself. Deleting
   * what is gone is a success.
   */
  change(zone: string, changes: readonly DnsChange[], signal: AbortSignal): Promise<void>;
}
