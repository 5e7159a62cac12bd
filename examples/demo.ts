import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonFileBackend } from "./backends.ts";
import { publishedKeyValueSet } from "./publishing.ts";

/** What `npm start` brings to play with: the tutorial's kind, on a file that you can edit. */
export function kinds({ dataDirectory }: { readonly dataDirectory: string }) {
  const file = join(dataDirectory, "demo", "colours.json");
  mkdirSync(join(dataDirectory, "demo"), { recursive: true });
  if (!existsSync(file)) writeFileSync(file, "{}\n");
  return [publishedKeyValueSet(jsonFileBackend(file))];
}
