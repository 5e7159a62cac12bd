// `npm start`: the whole product on the embedded database, with a demo organization; start-options.mjs says what else it takes.
import { join, resolve } from "node:path";
import { compileModules, ensureInstalled, fail, handOver, root } from "./bootstrap.mjs";
import { ensureConsole } from "./console-build.mjs";
import { readStartOptions, setAside, startHelp } from "./start-options.mjs";

const options = readStartOptions(process.argv.slice(2));
if ("problem" in options) fail(options.problem);
if (options.help) {
  process.stdout.write(startHelp);
  process.exit(0);
}
ensureInstalled({ development: false });
await Promise.all([ensureConsole(), compileModules()]);
if (options.reset) {
  const { aside, problem } = setAside(resolve(process.env.SETPOINT_DATA ?? ".setpoint"), new Date());
  if (problem !== undefined) fail(problem);
  if (aside !== undefined) process.stderr.write(`setpoint: begins anew; what was there is kept in ${aside}\n`);
}
const env = { SETPOINT_DEMO: options.demo ? "on" : "off", ...process.env };
await handOver([join(root, "src", "main.ts"), "dev", ...options.passedOn], { env });
