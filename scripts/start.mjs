// `npm start`: the whole product on the embedded database, with a demo organization. `npm start -- --empty` starts without the
// demo; `--reset` begins anew and keeps what was there beside it.
import { existsSync, renameSync } from "node:fs";
import { join, resolve } from "node:path";
import { ensureInstalled, fail, handOver, root } from "./bootstrap.mjs";
import { ensureConsole } from "./console-build.mjs";

const known = new Set(["--empty", "--reset"]);

/** Nothing is deleted: what was there keeps its folder, under another name. */
function setAside() {
  const data = resolve(process.env.SETPOINT_DATA ?? ".setpoint");
  if (!existsSync(data)) return;
  if (
    existsSync(join(data, "postgres", "data", "postmaster.pid")) ||
    existsSync(join(data, "postgres", "postmaster.pid"))
  )
    fail(
      `${data} is in use, or was not stopped in order. Stop the Setpoint that runs there, then run the command again.`,
    );
  const aside = `${data}-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}`;
  renameSync(data, aside);
  process.stderr.write(`setpoint: begins anew; what was there is kept in ${aside}\n`);
}

const args = process.argv.slice(2);
ensureInstalled({ development: false });
await ensureConsole();
if (args.includes("--reset")) setAside();
const env = { SETPOINT_DEMO: args.includes("--empty") ? "off" : "on", ...process.env };
await handOver([join(root, "src", "main.ts"), "dev", ...args.filter((argument) => !known.has(argument))], { env });
