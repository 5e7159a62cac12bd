import type { ChildProcess } from "node:child_process";
import { createSocket } from "node:dgram";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../src/store/embedded/free-port.ts";

/** Ends a server that a test started; one that does not go is killed. */
export async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await Promise.race([ended, sleep(5_000).then(() => server.kill("SIGKILL"))]);
  await ended;
}

/** Waits until the server answers; its own words are in the error when it does not. */
export async function untilAnswers(
  server: ChildProcess,
  name: string,
  answers: () => Promise<boolean>,
  printed: () => string,
): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (server.exitCode !== null) throw new Error(`${name} ended at its start: ${printed()}`);
    if (await answers().catch(() => false)) return;
    await sleep(50);
  }
  throw new Error(`${name} did not become ready: ${printed()}`);
}

/** What a server prints, from now on. */
export function printedBy(server: ChildProcess): () => string {
  let printed = "";
  for (const stream of [server.stdout, server.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (printed += text));
  return () => printed;
}

/** Free for TCP and UDP alike: DNS needs both. */
export async function freeDnsPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (await isFreeForUdp(port)) return port;
  }
}

function isFreeForUdp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createSocket("udp4");
    probe.once("error", () => resolve(false));
    probe.bind(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
