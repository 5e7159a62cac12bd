// `npm start`: the whole product on the embedded database.
import { join } from "node:path";
import { ensureInstalled, handOver, root } from "./bootstrap.mjs";
import { ensureConsole } from "./console-build.mjs";

ensureInstalled({ development: false });
await ensureConsole();
await handOver([join(root, "src", "main.ts"), "dev", ...process.argv.slice(2)]);
