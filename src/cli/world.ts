/** What commands need from the process they run in. Made once, in setpoint.ts. */
export interface CliWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Data goes here, and nothing else. */
  writeData(text: string): void;
  /** Resolves once what was written is on its way: for more than fits into memory. */
  drained(): Promise<void>;
  /** Everything else: notes, progress, questions. */
  writeNote(text: string): void;
  readonly colours: boolean;
  /** Whether a question can be asked and answered. */
  readonly interactive: boolean;
  ask(question: string): Promise<string>;
  /** The same, and what is typed is not shown. */
  askHidden(question: string): Promise<string>;
  request(request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | undefined;
    readonly timeoutMs: number;
  }): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }>;
  /** The body bit by bit, as it comes, until the signal fires. */
  stream(request: {
    /** Whether a connection that breaks is a failure, or an end that whoever reads goes on behind. */
    readonly whole: boolean;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  }): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly chunks: AsyncIterable<string>;
  }>;
  /** Fires after a while, or when the person has seen enough. */
  timer(ms: number | undefined): AbortSignal;
  nowMs(): number;
  timeMs(iso: string): number;
  isoTime(ms: number): string;
  sleep(ms: number): Promise<void>;
  readStdin(): Promise<string>;
  /** Runs a role of the product in this terminal and answers with its exit code. */
  runRole(role: string, ...values: readonly string[]): Promise<number>;
  readonly nodeVersion: string;
}
