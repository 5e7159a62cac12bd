import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { worldToken } from "../../src/world/account-book.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { spawnTalking } from "../support/processes.ts";

const cli = fileURLToPath(new URL("../../src/cli/setpoint.ts", import.meta.url));
const start = (...words: readonly string[]) => spawnTalking(process.execPath, [cli, "world", ...words]);

/** Some requests, and all that came back for them. */
async function conversation(base: string): Promise<unknown[]> {
  const headers = { authorization: `Bearer ${worldToken("shop")}` };
  const answers: unknown[] = [];
  for (const [method, path, body] of [
    ["POST", "/servers", { name: "web-1", server_type: "cx23", image: "debian-13" }],
    ["POST", "/servers", { name: "web-1", server_type: "cx23", image: "debian-13" }],
    ["GET", "/servers", undefined],
    ["GET", "/actions/500001", undefined],
  ] as const) {
    const answer = await fetch(`${base}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const told = ["x-correlation-id", "ratelimit-remaining", "ratelimit-reset"].map((name) => answer.headers.get(name));
    answers.push([answer.status, told, await answer.json()]);
  }
  return answers;
}

test("setpoint world serves until it is told to end, and two of one seed tell the same story", async () => {
  const words = ["--port", "0", "--seed", "7", "--step", "900", "--account", "shop"];
  await using first = start(...words);
  await using second = start(...words);
  const base = async (line: Promise<string>) =>
    /^hetzner-cloud: (http:\/\/127\.0\.0\.1:\d+\/v1)$/.exec(await line)?.[1] ?? "";
  const [left, right] = [await base(first.firstLine), await base(second.firstLine)];
  assert.notEqual(left, right);
  const answers = await conversation(left);
  assert.deepEqual(answers, await conversation(right));
  assert.deepEqual(
    answers.map((answer) => (answer as [number])[0]),
    [201, 409, 200, 200],
  );
  const ended = once(first.child, "exit");
  first.child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
});

test("a world that cannot begin says why", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "state.json");
  writeFileSync(file, "{}");
  const refused = [
    ["--pace", "fast"],
    ["--account", "No Such Name"],
    ["--state", file],
    ["--port", "70000"],
  ];
  await Promise.all(
    refused.map(async (words) => {
      await using world = start("--port", "0", ...words);
      const [code] = (await once(world.child, "exit")) as [number];
      assert.notEqual(code, 0, words.join(" "));
    }),
  );
});
