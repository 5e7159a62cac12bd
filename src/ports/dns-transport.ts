/** No whole answer came. A value and not an exception: who asked must decide whether the effect may have happened. */
export interface DnsSilence {
  readonly answered: false;
  readonly reason: "timeout" | "aborted" | "connection";
  /** False when the message surely never left: then the other side did nothing. */
  readonly sent: boolean;
  readonly message: string;
}

export interface DnsExchange {
  /** An address or a host name. */
  readonly server: string;
  readonly port: number;
  readonly message: Uint8Array;
  /** The whole exchange ends within this time. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with each whole message in its order; true says that it was the last one. What it throws ends the exchange. */
  receive(message: Uint8Array): boolean;
}

/** DNS messages over the network. Never repeats by itself. */
export interface DnsTransport {
  /** Over a TCP connection of its own: answers of any length, in as many messages as they take. */
  stream(exchange: DnsExchange): Promise<{ readonly answered: true } | DnsSilence>;
}
