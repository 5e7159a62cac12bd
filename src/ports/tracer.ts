/** What happened, when and for how long, for whoever collects that. Never a secret, never what a tenant wrote. */
export interface Span {
  readonly context: SpanContext;
  set(name: string, value: string | number | boolean): void;
  fail(message: string): void;
  /** Only the first time counts. */
  end(): void;
}

/** As W3C Trace Context names them: 32 and 16 hexadecimal digits. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

export interface SpanStart {
  readonly kind: "server" | "client" | "internal";
  readonly parent?: SpanContext | undefined;
  /** One that was made before, for children that began earlier than it was told of; a new one otherwise. */
  readonly context?: SpanContext | undefined;
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** How long ago it began; now unless said otherwise. */
  readonly beganMsAgo?: number | undefined;
}

export interface Tracer {
  start(name: string, options: SpanStart): Span;
  /** Of a trace of its own. */
  newContext(): SpanContext;
}
