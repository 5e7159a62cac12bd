import type { FastifyInstance } from "fastify";
import { runCli } from "../../src/cli/program.ts";
import type { CliWorld } from "../../src/cli/world.ts";
import { token } from "./api.ts";

export interface Ran {
  readonly code: number;
  /** What a program would read. */
  readonly data: string;
  /** What a person would read beside it. */
  readonly notes: string;
}

/** The command line in this process, over the API without a port, as the operator unless the environment says otherwise. */
export async function runCommand(
  app: FastifyInstance,
  args: readonly string[],
  change: Partial<CliWorld> = {},
): Promise<Ran> {
  let data = "";
  let notes = "";
  const nobody = () => Promise.reject(new Error("nobody may be asked"));
  const world: CliWorld = {
    environment: { SETPOINT_TOKEN: token, SETPOINT_URL: "http://test" },
    writeData: (text) => (data += text),
    drained: () => Promise.resolve(),
    writeNote: (text) => (notes += text),
    colours: false,
    interactive: false,
    ask: nobody,
    askHidden: nobody,
    request: async ({ method, url, headers, body }) => {
      const request = { method: method as "GET", url: url.replace("http://test", ""), headers };
      const answer = await app.inject(body === undefined ? request : { ...request, payload: body });
      return { status: answer.statusCode, headers: answer.headers as Record<string, string>, text: answer.body };
    },
    stream: async ({ url, headers, signal }) => {
      const answer = await app.inject({
        method: "GET",
        url: url.replace("http://test", ""),
        headers,
        payloadAsStream: true,
      });
      const body = answer.stream();
      signal.addEventListener("abort", () => body.destroy(), { once: true });
      const chunks = async function* () {
        try {
          for await (const chunk of body) yield String(chunk);
        } catch (thrown) {
          if (!signal.aborted) throw thrown;
        }
      };
      return { status: answer.statusCode, headers: answer.headers as Record<string, string>, chunks: chunks() };
    },
    timer: (ms) => (ms === undefined ? new AbortController().signal : AbortSignal.timeout(ms)),
    nowMs: () => Date.now(),
    timeMs: (iso) => Date.parse(iso),
    isoTime: (ms) => new Date(ms).toISOString(),
    sleep: () => Promise.resolve(),
    readStdin: () => Promise.resolve(""),
    runRole: () => Promise.resolve(0),
    nodeVersion: "24.0.0",
    ...change,
  };
  return { code: await runCli(world, args, "0.0.0-test"), data, notes };
}
