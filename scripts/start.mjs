// `npm start`: the whole product on the embedded database.
import { join } from "node:path";
import { ensureInstalled, handOver, root } from "./bootstrap.mjs";

ensureInstalled({ development: false });
await handOver([join(root, "src", "main.ts"), "dev", ...process.argv.slice(2)]);
