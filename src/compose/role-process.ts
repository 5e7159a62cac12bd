import type { Log } from "../ports/log.ts";
import { createJsonLog } from "../runtime/json-log.ts";
import { parseMessage } from "./channel.ts";
import type { Config } from "../config.ts";
import type { ServiceState } from "../control-api/context.ts";
import { migrate } from "../store/migrate.ts";
import { explainFailure } from "./explain-failure.ts";
import type { World } from "./world.ts";

/** A role that runs: what its process needs to know about it. */
export interface RunningRole {
  /** One line about what it does, for the status page. */
  readonly detail: string;
  metrics(): Promise<string>;
  /** Lets what runs end, then gives everything back. */
  stop(): Promise<void>;
}

/** What a role may ask of whoever started its process. */
export interface RoleHost {
  readonly log: Log;
  /** Metrics of the roles beside this one; empty when it runs apart. */
  otherMetrics(): Promise<readonly string[]>;
  /** The services as the supervisor sees them; undefined when there is none. */
  services(): readonly ServiceState[] | undefined;
}

const answerWithinMs = 2_000;

/**
 * Runs one role until it is told to end: SIGTERM, Ctrl-C when it runs apart, or the death of its supervisor, which closes
 * the channel between them. Answers with the exit code.
 */
export async function runRoleProcess(
  name: string,
  options: {
    readonly config: Config & { readonly databaseUrl: string };
    readonly world: World;
    readonly start: (host: RoleHost) => Promise<RunningRole>;
  },
): Promise<number> {
  const { world } = options;
  const log = createJsonLog({
    level: options.config.logLevel,
    base: { role: name, processId: process.pid },
    write: (line) => void process.stdout.write(line),
  });
  const supervised = process.channel !== undefined;
  // A log that nobody reads any more must not end the drain.
  process.stdout.on("error", () => undefined);
  const ending = untilToldToEnd(log, supervised);
  const host = new ChannelHost(log, world);
  try {
    // A supervisor has migrated before it starts its roles.
    if (!supervised) await migrate({ url: options.config.databaseUrl, log });
    const role = await options.start(host);
    host.serve(role);
    log.info("role.ready", { detail: role.detail });
    process.send?.({ type: "ready", detail: role.detail });
    const code = await ending;
    log.info("role.stopping");
    await role.stop();
    log.info("role.stopped");
    return code;
  } catch (thrown) {
    const message = explainFailure(thrown);
    log.error("role.failed", { message, stack: thrown instanceof Error ? thrown.stack : undefined });
    if (process.send === undefined) process.stderr.write(`setpoint ${name}: ${message}\n`);
    else await new Promise<void>((resolve) => process.send?.({ type: "failed", message }, () => resolve()));
    return 1;
  }
}

function untilToldToEnd(log: Log, supervised: boolean): Promise<number> {
  return new Promise((resolve) => {
    process.on("SIGTERM", () => resolve(0));
    // The terminal sends Ctrl-C to the whole group; under a supervisor it is the one who decides when.
    process.on("SIGINT", () => supervised || resolve(130));
    process.on("SIGHUP", () => supervised || resolve(129));
    process.once("disconnect", () => resolve(0));
    process.on("uncaughtException", (error) => {
      log.error("role.crashed", { message: error.message, stack: error.stack });
      // What state is left is unknown, and another process can take over at once.
      process.exit(70);
    });
  });
}

/** The answers of the other roles to one question for their metrics. */
interface Gathering {
  readonly texts: string[];
  expected: number | undefined;
  all(): void;
}

class ChannelHost implements RoleHost {
  readonly log: Log;
  readonly #world: World;
  readonly #gathering = new Map<number, Gathering>();
  #services: readonly ServiceState[] | undefined;
  #asked = 0;

  constructor(log: Log, world: World) {
    this.log = log;
    this.#world = world;
  }

  services(): readonly ServiceState[] | undefined {
    return this.#services;
  }

  async otherMetrics(): Promise<readonly string[]> {
    if (process.send === undefined) return [];
    const id = ++this.#asked;
    const all = Promise.withResolvers<void>();
    const gathering: Gathering = { texts: [], expected: undefined, all: all.resolve };
    this.#gathering.set(id, gathering);
    process.send({ type: "ask-metrics", id });
    const done = new AbortController();
    await Promise.race([all.promise, this.#world.clock.wait(answerWithinMs, done.signal)]);
    done.abort();
    this.#gathering.delete(id);
    return gathering.texts.filter((text) => text !== "");
  }

  #gather(id: number, change: (gathering: Gathering) => void): void {
    const gathering = this.#gathering.get(id);
    if (gathering === undefined) return;
    change(gathering);
    if (gathering.texts.length === gathering.expected) gathering.all();
  }

  serve(role: RunningRole): void {
    process.on("message", (raw) => {
      const message = parseMessage(raw);
      if (message?.type === "services") this.#services = message.services;
      if (message?.type === "metrics-asked")
        this.#gather(message.id, (gathering) => {
          gathering.expected = message.count;
        });
      if (message?.type === "metrics") this.#gather(message.id, ({ texts }) => texts.push(message.text));
      if (message?.type === "ask-metrics") {
        const { id } = message;
        role.metrics().then(
          (text) => process.send?.({ type: "metrics", id, text }),
          () => process.send?.({ type: "metrics", id, text: "" }),
        );
      }
    });
  }
}
