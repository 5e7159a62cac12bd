/** Real DNS queries. */
export interface DnsResolver {
  /** The NS records that a server (`ADDRESS:PORT`; undefined: the system's resolver) answers with; empty when there are none. */
  nameservers(zone: string, server: string | undefined, signal: AbortSignal): Promise<readonly string[]>;
}
