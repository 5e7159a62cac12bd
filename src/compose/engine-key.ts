import { join } from "node:path";
import { thrownMessage } from "../kernel/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { EngineOpener } from "../ports/engine-seal.ts";
import type { Log } from "../ports/log.ts";
import { createEngineOpener, engineSealer } from "../runtime/engine-seal.ts";
import type { Database } from "../store/database.ts";
import { registerEngineKey, resealAccounts } from "../store/engine-keys.ts";
import { readKeys } from "./key-file.ts";

const batchSize = 100;
const everyMs = 60_000;

/** The private half that credentials of accounts are sealed to. Only schedulers and workers read it. */
export function engineOpener(config: {
  readonly engineKey: string | undefined;
  readonly dataDirectory: string;
}): EngineOpener {
  return createEngineOpener(
    readKeys({
      what: "engine key",
      file: join(config.dataDirectory, "engine.key"),
      variable: "SETPOINT_ENGINE_KEY",
      given: config.engineKey,
      without: "without it the stored credentials of accounts cannot be opened",
    }),
  );
}

interface About {
  /** Of role `setpoint_admin`. */
  readonly administration: Database;
  readonly opener: EngineOpener;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps the public half known and seals to it what is still sealed to an earlier one, in the background. */
export function startSealing(about: About): AsyncDisposable {
  const over = new AbortController();
  const running = keepSealed(about, over.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await running;
    },
  };
}

/** Interrupted anywhere, it goes on where it was: what is left is what is sealed to another key. */
async function keepSealed({ administration, opener, clock, log }: About, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await announce({ administration, opener, log });
      let moved = batchSize;
      while (moved > 0 && !signal.aborted) {
        moved = await resealAccounts(administration, { opener, sealer: engineSealer }, batchSize);
        if (moved > 0) log.info("scheduler.credentials-resealed", { accounts: moved, engineKey: opener.key.id });
      }
    } catch (thrown) {
      const message = thrownMessage(thrown);
      log.warn("scheduler.credentials-not-resealed", { message });
    }
    await clock.wait(everyMs, signal);
  }
}

async function announce({ administration, opener, log }: Omit<About, "clock">): Promise<void> {
  const answer = await registerEngineKey(administration, opener);
  if (answer.state !== "other") return;
  log.warn("scheduler.other-engine-key", {
    message: `Credentials are sealed to the engine key ${answer.currentId}, and this process has ${opener.key.id}: accounts with a stored credential fail here. Give every scheduler and worker the same engine.key, or SETPOINT_ENGINE_KEY`,
  });
}
