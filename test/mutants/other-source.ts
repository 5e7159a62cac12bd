import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repository } from "./source-copy.ts";

/** Loaded before a test file: whatever it imports from `src` comes from another source root. */
const other = process.env["SETPOINT_OTHER_SOURCE"];
if (other === undefined) throw new Error("SETPOINT_OTHER_SOURCE names no source root");
const own = `${pathToFileURL(join(repository, "src")).href}/`;
const instead = `${pathToFileURL(other).href}/`;

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    return found.url.startsWith(own) ? { ...found, url: instead + found.url.slice(own.length) } : found;
  },
});
