import assert from "node:assert/strict";
import { test } from "node:test";
import { PostgresSignalListener, PostgresSignalSender } from "../../src/fabric/postgres-signals.ts";
import type { Signal } from "../../src/ports/signal.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { query, startTestServer } from "../support/postgres.ts";
import { silentLog } from "./support/stores.ts";

/** Everything heard, and a way to wait for the next piece of it. */
class Ear {
  readonly heard: (Signal | "perhaps")[] = [];
  #next = Promise.withResolvers<void>();

  readonly hear = (signal: Signal | "perhaps"): void => {
    this.heard.push(signal);
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  };

  async until(enough: (heard: readonly (Signal | "perhaps")[]) => boolean): Promise<void> {
    while (!enough(this.heard)) await this.#next.promise;
  }
}

const edge = (subjectId: number, shard: number) => ({ subjectId, shard, priority: "event" as const, dueAtMs: 1 });

test("signals reach a listener on another connection, and those sent at once travel together", async () => {
  await using server = await startTestServer();
  const { url } = server;
  const ear = new Ear();
  await using listening = new AsyncDisposableStack();
  listening.use(new PostgresSignalListener({ url, clock: systemClock, log: silentLog, heard: ear.hear }));
  await ear.until((heard) => heard.includes("perhaps"));
  await using sender = new PostgresSignalSender({ url, clock: systemClock, log: silentLog });
  sender.send({ shards: [], due: [edge(1, 3)] });
  for (let id = 2; id <= 100; id++) sender.send({ shards: [9], due: [edge(id, 3)] });
  const signals = () => ear.heard.filter((signal) => signal !== "perhaps");
  await ear.until(() => signals().flatMap(({ due }) => due).length === 100);
  assert.deepEqual(
    signals().flatMap(({ due }) => due.map(({ subjectId }) => subjectId)),
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
  assert.deepEqual([...new Set(signals().flatMap(({ shards }) => shards))], [9]);
  assert.ok(signals().length <= 3, `${signals().length} messages`);
});

test("a listener whose connection was ended listens again and says that it may have missed something", async () => {
  await using server = await startTestServer();
  const { url } = server;
  const ear = new Ear();
  await using listening = new AsyncDisposableStack();
  listening.use(new PostgresSignalListener({ url, clock: systemClock, log: silentLog, heard: ear.hear }));
  await ear.until((heard) => heard.length === 1);
  await query(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'setpoint signals'",
  );
  await ear.until((heard) => heard.length === 2);
  assert.deepEqual(ear.heard, ["perhaps", "perhaps"]);
  await using sender = new PostgresSignalSender({ url, clock: systemClock, log: silentLog });
  sender.send({ shards: [5], due: [] });
  await ear.until((heard) => heard.length === 3);
  assert.deepEqual(ear.heard[2], { shards: [5], due: [] });
});

test("a sender whose connection was ended sends again", async () => {
  await using server = await startTestServer();
  const { url } = server;
  const ear = new Ear();
  await using listening = new AsyncDisposableStack();
  listening.use(new PostgresSignalListener({ url, clock: systemClock, log: silentLog, heard: ear.hear }));
  await ear.until((heard) => heard.length === 1);
  await using sender = new PostgresSignalSender({ url, clock: systemClock, log: silentLog });
  sender.send({ shards: [1], due: [] });
  await ear.until((heard) => heard.length === 2);
  await query(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'setpoint signals' and query like '%pg_notify%'",
  );
  // The first ones may be lost with the connection; a signal is a hint.
  const trying = setInterval(() => sender.send({ shards: [2], due: [] }), 20);
  await ear.until((heard) => heard.some((signal) => signal !== "perhaps" && signal.shards.includes(2)));
  clearInterval(trying);
});
