import { z } from "zod";
import { RetryableError, TerminalError } from "../../../src/kernel/errors.ts";
import { defineKind, type Kind } from "../../../src/kernel/kind.ts";
import { defineLoop } from "../../../src/kernel/loop.ts";
import { type Pipeline, pipelinesOf } from "../../../src/kernel/pipeline.ts";
import type { Http, HttpRequest } from "../../../src/ports/http.ts";
import { createHttpClient } from "../../../src/runtime/http-client.ts";

const schema = z.strictObject({
  /** What is in it, which goes with it. */
  things: z.int().min(0).default(0),
});
type CrateSpec = z.output<typeof schema>;

const named = z.object({ name: z.string() });
const nothing = z.object({});
interface Seen {
  readonly label?: string;
  readonly sealed: boolean;
  readonly things: number;
  readonly lockedBy?: string;
}

/** The outside by HTTP, with a word about who asks: the server's own log then says which process made which call. */
class Crates {
  readonly #http: Http = createHttpClient();
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async see(name: string, signal: AbortSignal): Promise<Seen | "absent"> {
    const { status, text } = await this.#call("GET", `/crates/${name}`, signal);
    return status === 404 ? "absent" : (JSON.parse(text) as Seen);
  }

  async isOpen(name: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#call("GET", `/gate/${name}`, signal)).text === "open";
  }

  async write(
    method: "POST" | "PUT" | "DELETE",
    path: string,
    signal: AbortSignal,
    rest: Pick<HttpRequest, "body" | "headers"> = {},
  ): Promise<void> {
    const { status, text } = await this.#call(method, path, signal, rest);
    if (status >= 400 && status < 500) throw new TerminalError("PROVIDER_REFUSED", `${status}: ${text}`);
    if (status >= 500) throw new RetryableError("PROVIDER_UNAVAILABLE", `${status}: ${text}`, { ambiguous: true });
  }

  async #call(
    method: HttpRequest["method"],
    path: string,
    signal: AbortSignal,
    rest: Pick<HttpRequest, "body" | "headers"> = {},
  ) {
    const headers = { ...rest.headers, "x-worker": String(process.pid) };
    const answer = await this.#http.request({
      method,
      url: this.#url + path,
      timeoutMs: 10_000,
      signal,
      ...rest,
      headers,
    });
    if (answer.answered) return answer;
    throw new RetryableError("PROVIDER_UNAVAILABLE", answer.message, { ambiguous: answer.sent });
  }
}

/** What a module named in SETPOINT_KINDS exports. `CRATES_RELEASE` says how old the program is that runs it. */
export function kinds(): readonly Kind[] {
  const { CRATES_URL: url = "", CRATES_RELEASE: release = "1" } = process.env;
  return [crateKind(url, Number(release))];
}

export function crateKind(url: string, release = 1): Kind<CrateSpec> {
  const crates = new Crates(url);
  const versions = Array.from({ length: release }, (_, index) => packPipeline(crates, index + 1));
  return defineKind<CrateSpec>({
    kind: "Crate",
    plural: "crates",
    schema,
    permission: "project.crate",
    scopes: ["organization"],
    modeRequired: false,
    accounts: () => [],
    links: () => [],
    loop: emptyLoop,
    pipelines: [...versions, unpackPipeline(crates)],
  });
}

/** Everything about a crate is done by its pipelines. */
const emptyLoop = defineLoop<CrateSpec, object>({
  kind: "Crate",
  everySeconds: 3_600,
  desired: () => ({ known: true, items: [] }),
  observe: (ctx) => ctx.look(async () => []),
  read: async () => "absent",
  same: () => [],
  create: async () => ({ externalId: "none" }),
  update: async () => {},
  remove: async () => {},
});

const { step, effect, once, waitFor, definePipeline } = pipelinesOf<CrateSpec>();

function crateEffect(crates: Crates) {
  return effect({
    name: "crate",
    change: "create",
    input: named.extend({ things: z.number() }),
    output: named,
    given: ({ subject }) => ({ name: subject.name, things: subject.spec.things }),
    key: ({ subject }) => `crate ${subject.name}`,
    look: async ({ signal }, { name }) =>
      (await crates.see(name, signal)) === "absent" ? "absent" : { externalId: `crate-${name}`, output: { name } },
    call: async ({ signal }, { name, things }) => {
      await crates.write("POST", `/crates/${name}`, signal, { body: JSON.stringify({ things }) });
      return { externalId: `crate-${name}`, output: { name } };
    },
    compensate: ({ signal, subject }) => crates.write("DELETE", `/crates/${subject.name}`, signal),
  });
}

/** `label` and, from release 2 on, `seal`: both can be looked for. */
function mark(crates: Crates, name: "label" | "seal") {
  return effect({
    name,
    change: "update",
    retry: { times: 3, firstSeconds: 1 },
    input: named,
    output: nothing,
    given: ({ subject }) => ({ name: subject.name }),
    key: ({ subject }) => `${name} of ${subject.name}`,
    look: async ({ signal }, given) => {
      const seen = await crates.see(given.name, signal);
      const isThere = seen !== "absent" && (name === "label" ? seen.label !== undefined : seen.sealed);
      return isThere ? { externalId: `${name}-${given.name}`, output: {} } : "absent";
    },
    call: async ({ signal }, given) => {
      await crates.write("PUT", `/crates/${given.name}/${name}`, signal);
      return { externalId: `${name}-${given.name}`, output: {} };
    },
  });
}

function packPipeline(crates: Crates, version: number): Pipeline {
  const weigh = step({
    name: "weigh",
    input: named,
    output: z.object({ grams: z.number() }),
    given: ({ subject }) => ({ name: subject.name }),
    run: async (context, { name }) => {
      context.progress(`weighing ${name}`);
      return { grams: 100 + name.length };
    },
  });
  const gate = waitFor({
    name: "gate",
    everySeconds: 1,
    atMostSeconds: 900,
    until: async ({ signal, subject }) => (await crates.isOpen(subject.name, signal)) || "the gate is shut",
  });
  const letter = once({
    name: "letter",
    input: z.object({ grams: z.number() }),
    output: nothing,
    given: (story) => story.output(weigh),
    key: ({ subject }) => `letter about ${subject.name}`,
    call: async ({ signal, subject, idempotencyKey }, { grams }) => {
      const headers = { "idempotency-key": idempotencyKey };
      await crates.write("POST", "/letters", signal, { body: `${subject.name} weighs ${grams}`, headers });
      return {};
    },
  });
  const marks = version === 1 ? [mark(crates, "label")] : [mark(crates, "label"), mark(crates, "seal")];
  return definePipeline({
    name: "crate.pack",
    version,
    summary: "packs a crate, waits for the gate, and tells",
    startsWith: () => true,
    steps: [weigh, crateEffect(crates), gate, ...marks, letter],
  });
}

function unpackPipeline(crates: Crates): Pipeline {
  return definePipeline({
    name: "crate.unpack",
    version: 1,
    summary: "takes a crate away with what is in it",
    ends: true,
    startsWith: () => true,
    steps: [
      effect({
        name: "crate",
        change: "delete",
        takesItems: true,
        input: named,
        output: z.unknown(),
        given: ({ subject }) => ({ name: subject.name }),
        key: ({ subject }) => `crate ${subject.name}`,
        look: async ({ signal }, { name }) => {
          const seen = await crates.see(name, signal);
          if (seen === "absent") return "absent";
          return { externalId: `crate-${name}`, output: undefined, contains: seen.things, lockedBy: seen.lockedBy };
        },
        call: async ({ signal }, { name }) => {
          await crates.write("DELETE", `/crates/${name}`, signal);
          return { externalId: `crate-${name}`, output: undefined };
        },
      }),
    ],
  });
}
