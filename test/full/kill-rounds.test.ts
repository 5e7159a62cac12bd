import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { productFolder } from "../support/product-folder.ts";
import { isRunning, type Product, startProduct, until } from "../support/product.ts";

const ROUNDS = 24;
const victims = ["api", "scheduler", "database", "everything"] as const;

/** Goal: no acknowledged write is lost and nothing is left behind, whichever process dies without a word, and whenever. */
test(`${ROUNDS} rounds of kill -9 lose no acknowledged write`, { timeout: 15 * 60_000 }, async () => {
  const dataDirectory = productFolder("kill");
  const options = { dataDirectory, port: await freePort() };
  let product = startProduct(options);
  try {
    await product.ready();
    const file = join(dataDirectory, "demo", "colours.json");
    let acknowledged = 0;
    for (let round = 1; round <= ROUNDS; round++) {
      const victim = victims[round % victims.length] ?? "api";
      const writing = declareUntilRefused(product, acknowledged);
      // A different moment each round: some writes are under way whenever the process dies.
      await until(
        "some writes",
        async () => writing.acknowledged(),
        (count) => count > acknowledged + (round % 5),
      );
      product = await kill(product, victim, options);
      acknowledged = await writing.stopped();
      const stored = await until(
        "the API to answer",
        () => declared(product),
        (value) => value !== undefined,
      );
      assert.ok(
        Number(stored) >= acknowledged,
        `round ${round} (${victim}): ${acknowledged} was acknowledged, ${stored} is stored`,
      );
      acknowledged = Number(stored);
      const wanted = String(acknowledged);
      await until(
        `round ${round} (${victim}) to converge`,
        async () => read(file)["counter"],
        (value) => value === wanted,
        900,
      );
    }
    const children = product.children();
    await product.end("SIGTERM");
    assert.deepEqual(children.filter(isRunning), [], "no process is left behind");
  } finally {
    await product.end("SIGKILL");
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});

interface Writing {
  acknowledged(): number;
  stopped(): Promise<number>;
}

/** Declares 1, 2, 3… one after the other, remembering the last one that was answered for. */
function declareUntilRefused(product: Product, from: number): Writing {
  let last = from;
  const stop = new AbortController();
  const done = (async () => {
    for (let next = from + 1; !stop.signal.aborted; next++) {
      const status = await put(product, next).catch(() => 0);
      if (status === 200 || status === 201) last = next;
      else if (status === 0) break;
    }
  })();
  return {
    acknowledged: () => last,
    stopped: async () => {
      stop.abort();
      await done;
      return last;
    },
  };
}

async function kill(
  product: Product,
  victim: (typeof victims)[number],
  options: Parameters<typeof startProduct>[0],
): Promise<Product> {
  const pids = product.children();
  const named = (pattern: RegExp) => pids.filter((pid) => pattern.test(commandOf(pid)));
  const targets = {
    api: named(/main\.ts\0api/),
    scheduler: named(/main\.ts\0scheduler/),
    database: named(/postgres\0-D/),
    everything: pids,
  }[victim];
  assert.ok(targets.length > 0, `there is a process to kill for '${victim}'`);
  if (victim === "everything") product.process.kill("SIGKILL");
  for (const pid of targets) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself when the one before it died.
    }
  }
  if (victim !== "everything") return product;
  await product.end("SIGKILL");
  const again = startProduct(options);
  await again.ready();
  return again;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

const path = "/v1/organizations/default/keyvaluesets/colours";

async function put(product: Product, counter: number): Promise<number> {
  const body = {
    apiVersion: "setpoint/v1",
    kind: "KeyValueSet",
    metadata: { name: "colours" },
    spec: { items: { counter: String(counter) } },
  };
  const answer = await fetch(`${product.url}${path}?fieldManager=test`, {
    method: "PATCH",
    headers: { ...headers(product), "content-type": "application/apply+json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  await answer.text();
  return answer.status;
}

async function declared(product: Product): Promise<string | undefined> {
  const answer = await fetch(`${product.url}${path}`, {
    headers: headers(product),
    signal: AbortSignal.timeout(20_000),
  });
  const body = (await answer.json()) as { spec?: { items?: { counter?: string } } };
  return answer.status === 200 ? body.spec?.items?.counter : undefined;
}

function headers(product: Product): Record<string, string> {
  const token = readFileSync(join(product.dataDirectory, "operator.token"), "utf8").trim();
  return { authorization: `Bearer ${token}`, "content-type": "application/json" };
}

function read(file: string): Record<string, string> {
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
}
