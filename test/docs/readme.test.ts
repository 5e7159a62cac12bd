import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { productFolder } from "../support/product-folder.ts";
import { startProduct, until } from "../support/product.ts";
import { blocksOf } from "./blocks.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("the five-minute tour of the README does what it says", async () => {
  const commands = blocksOf(readFileSync(join(root, "README.md"), "utf8"))
    .filter((block) => block.language === "sh" && block.about === "tour")
    .map((block) => block.text);
  assert.equal(commands.length, 4, "declare, heal, hold, freeze");
  const [declare = "", heal = "", hold = "", freeze = ""] = commands;
  const dataDirectory = productFolder("tour");
  const product = startProduct({ dataDirectory, port: await freePort() });
  try {
    await product.ready();
    const file = join(dataDirectory, "demo", "colours.json");
    const colours = () => JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
    const shell = (text: string) =>
      run(text.replaceAll(".setpoint/demo/colours.json", file), { dataDirectory, url: product.url });
    const declared = { coal: "black", grass: "green", sky: "blue", snow: "white" };

    await shell(declare);
    await until(
      "the file to hold what was declared",
      async () => colours(),
      (seen) => same(seen, declared),
    );

    await shell(heal);
    await until(
      "the edit to be healed",
      async () => colours(),
      (seen) => same(seen, { ...declared, rust: "brown" }),
    );
    const why = await product.must("why", "keyvalueset/colours");
    assert.match(why, /sky/);

    // The look that finds the deletes comes with the deletion; the list is asked until it is there.
    const [deletion = "", ...questions] = hold.split("\n");
    await shell(deletion);
    const waiting = await until(
      "the deletes to be held",
      () => product.must("held", "list"),
      (text) => text.includes("delete-budget"),
    );
    assert.match(waiting, /4 deletes/);
    const shown = await shell(questions.join("\n"));
    assert.deepEqual(colours(), { ...declared, rust: "brown" }, "nothing is deleted before the approval");
    const approval = /setpoint (approve \S+ --digest \S+)/.exec(shown)?.[1] ?? "";
    await product.must(...approval.split(" "));
    await until(
      "the approved deletes",
      async () => colours(),
      (seen) => same(seen, { rust: "brown" }),
    );

    const frozen = await shell(freeze.split("\n")[0] ?? "");
    assert.ok(frozen.length > 0);
    await shell(freeze.split("\n").slice(1).join("\n"));
  } finally {
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});

function same(left: Record<string, string>, right: Record<string, string>): boolean {
  return isDeepStrictEqual(left, right);
}

/** Runs a block in a shell as a reader would, in the root of the clone. */
function run(text: string, product: { readonly dataDirectory: string; readonly url: string }): Promise<string> {
  const env = { ...process.env, NO_COLOR: "1", SETPOINT_DATA: product.dataDirectory, SETPOINT_URL: product.url };
  return new Promise((resolve, reject) => {
    execFile("bash", ["-euc", text], { cwd: root, env, timeout: 120_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${text}\n${stdout}${stderr}`, { cause: error }));
    });
  });
}
