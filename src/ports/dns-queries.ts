/** One real question to one server, as anybody in the world would ask it. */
export interface DnsQuestion {
  /** An address or a name, with or without a port: `192.0.2.53`, `[2001:db8::53]:53`, `127.0.0.1:5353`. */
  readonly server: string;
  readonly name: string;
  readonly type: string;
  /** True where the server is a resolver, which finds the answer elsewhere. */
  readonly recursive: boolean;
}

export type DnsAnswer =
  | {
      readonly answered: true;
      readonly authoritative: boolean;
      /** Values of the name and type that were asked for, in presentation format; empty when there are none. */
      readonly values: readonly string[];
    }
  /** Nothing came, or nothing that says what is there. */
  | { readonly answered: false; readonly message: string };

/** The addresses of a host as the system finds them; empty when it has none. */
export type HostAddresses = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface DnsQueries {
  ask(question: DnsQuestion, signal: AbortSignal): Promise<DnsAnswer>;
  readonly addresses: HostAddresses;
}
