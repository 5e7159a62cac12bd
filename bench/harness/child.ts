import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { roleMemory } from "../../src/compose/role-memory.ts";

/** A process of the benchmark that answers calls over its channel. */
export interface BenchChild<Calls extends CallTable> {
  readonly pid: number;
  call<Name extends keyof Calls & string>(
    name: Name,
    ...values: Parameters<Calls[Name]>
  ): Promise<Awaited<ReturnType<Calls[Name]>>>;
  /** Asks it to end and waits until it has. */
  stop(): Promise<void>;
}

export type CallTable = Readonly<Record<string, (...values: never[]) => unknown>>;

interface Question {
  readonly number: number;
  readonly name: string;
  readonly values: readonly unknown[];
}
interface Answer {
  readonly number: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** Long enough for a scheduler to drain and hand over; then the process is ended. */
const STOP_MS = 15_000;

export async function startChild<Calls extends CallTable>(
  cleanup: AsyncDisposableStack,
  options: { readonly file: string; readonly words?: readonly string[]; readonly execArgv?: readonly string[] },
): Promise<BenchChild<Calls>> {
  // With the memory that the product gives its roles.
  const memory = roleMemory();
  // Its standard output joins our standard error, because ours belongs to the document.
  const child = fork(options.file, [...(options.words ?? [])], {
    stdio: ["ignore", process.stderr, process.stderr, "ipc"],
    execArgv: [...memory.flags, ...(options.execArgv ?? [])],
    env: { ...memory.environment, ...process.env },
    serialization: "advanced",
  });
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const end = async () => {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    const error = new Error(`${options.file} ended with ${signal ?? code} before it answered`);
    for (const waiting of pending.values()) waiting.reject(error);
    pending.clear();
  };
  const ended = end();
  child.on("message", (message) => {
    const answer = message as Answer;
    const waiting = pending.get(answer.number);
    pending.delete(answer.number);
    if (answer.error === undefined) waiting?.resolve(answer.value);
    else waiting?.reject(new Error(`${options.file}: ${answer.error}`));
  });
  cleanup.defer(() => stopChild(child, ended));
  let number = 0;
  const call = (name: string, ...values: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      if (!child.connected) {
        reject(new Error(`${options.file} has ended; ${name} cannot be asked`));
        return;
      }
      number += 1;
      pending.set(number, { resolve, reject });
      child.send({ number, name, values } satisfies Question);
    });
  if (child.pid === undefined) throw new Error(`${options.file} could not be started`);
  return { pid: child.pid, call: call as BenchChild<Calls>["call"], stop: () => stopChild(child, ended) };
}

async function stopChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (child.connected) child.disconnect();
  const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(late);
}

/** The child's side: answers calls until the channel closes, which is also what happens when the parent is killed. */
export function answerCalls(calls: CallTable, end: () => Promise<void>): void {
  // Ctrl-C reaches the whole process group; when to end is for the parent to say.
  for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined);
  process.on("message", (message) => void answer(calls, message as Question));
  process.once("disconnect", () => {
    void end().finally(() => process.exit());
  });
}

async function answer(calls: CallTable, { number, name, values }: Question): Promise<void> {
  let answered: Answer;
  try {
    const known = calls[name];
    if (known === undefined) throw new Error(`there is no call ${name}`);
    answered = { number, value: await known(...(values as never[])) };
  } catch (thrown) {
    answered = { number, error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) };
  }
  if (process.connected) process.send?.(answered);
}
