import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { formats } from "../../src/cli/output.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { productFolder } from "../support/product-folder.ts";
import { setpointIn, startProduct, until } from "../support/product.ts";
import { blocksOf } from "./blocks.ts";
import { runBlock } from "./run-block.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const text = readFileSync(join(root, "docs/cli.md"), "utf8");

test("the walk at a terminal does what it says", async () => {
  const blocks = blocksOf(text)
    .filter(({ language, about }) => language === "sh" && about === "walk")
    .map((block) => block.text);
  assert.equal(blocks.length, 9, "sign in, place, declare, converge, hold, freeze, go back, audit, completion");
  const [signIn = "", place = "", declare = "", converge = "", hold = "", freeze = "", back = "", ...rest] = blocks;
  const dataDirectory = productFolder("walk");
  const product = startProduct({ dataDirectory, port: await freePort() });
  try {
    await product.ready();
    const environment = {
      ...process.env,
      NO_COLOR: "1",
      SETPOINT_DATA: dataDirectory,
      SETPOINT_CONFIG: join(dataDirectory, "config"),
      SETPOINT_URL: product.url,
    };
    const shell = (block: string) => runBlock(block.replaceAll(".setpoint/", `${dataDirectory}/`), environment);
    const setpoint = setpointIn(environment);
    const items = () =>
      JSON.parse(readFileSync(join(dataDirectory, "demo", "colours.json"), "utf8")) as Record<string, string>;
    const colours = { coal: "black", grass: "green", sky: "blue", snow: "white" };

    assert.match(await shell(signIn), /Name +ada@example\.test/);
    assert.match(await shell(place), /organization\/acme created\nproject\/shop created/);

    assert.match(await shell(declare), /create KeyValueSet\/colours[^]*KeyValueSet\/shapes created/);
    assert.match(await shell(converge), /colours +.*True/);
    assert.deepEqual(items(), { ...colours, coin: "round", die: "square" });

    // The look that finds the deletes comes with the deletion; the list is asked until it is there.
    const [deletion = "", ...decision] = hold.split("\n");
    await shell(deletion);
    await until(
      "the deletes to be held",
      async () => (await setpoint("held", "list")).stdout,
      (list) => list.includes("delete-budget"),
    );
    assert.deepEqual(items(), { ...colours, coin: "round", die: "square" }, "nothing is deleted before the approval");
    assert.match(await shell(decision.join("\n")), /4 deletes/);
    assert.deepEqual(items(), { coin: "round", die: "square" });

    const [stop = "", edit = "", why = "", ...goOn] = freeze.split("\n");
    await shell(`${stop}\n${edit}`);
    assert.match(await shell(why), /writes paused at platform by ada@example\.test/);
    assert.equal(items()["coin"], "round", "nothing is written while it is frozen");
    await shell(goOn.join("\n"));
    assert.equal(items()["coin"], "oval");

    assert.match(await shell(back), /changed what is declared[^]*\/spec\/items\/coin: oval → round/);
    assert.equal(items()["coin"], "round");
    for (const block of rest) await shell(block);
  } finally {
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});

test("the table of commands has every command, and no other", async () => {
  const { stdout } = await setpointIn(process.env)("--help");
  const listed = /\n {2}-h[^\n]*\n([\s\S]*?)\nExamples:/.exec(stdout)?.[1] ?? "";
  const known = [...listed.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = ""]) => name).filter((name) => name !== "help");
  assert.ok(known.length > 40, stdout);
  assert.deepEqual(codesIn("## Commands").toSorted(), known.toSorted());
});

test("the tables of formats and exit codes are those of the code", () => {
  assert.deepEqual(codesIn("## Output"), [...formats]);
  const rows = [...section("## Exit codes").matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map(([, code, name]) => [
    name,
    Number(code),
  ]);
  assert.deepEqual(Object.fromEntries(rows), { ...exitCodes });
});

function section(title: string): string {
  return text.split(`${title}\n`)[1]?.split("\n## ")[0] ?? "";
}

/** What stands in the first column of a section's table. */
function codesIn(title: string): readonly string[] {
  const rows = [...section(title).matchAll(/^\|([^|]*)\|/gm)].map(([, first = ""]) => first).slice(2);
  return rows.flatMap((first) => [...first.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word));
}
