import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { ConsoleFile, ConsoleFiles } from "../control-api/console-page.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** The console as it was built; undefined where it was not, and the status page is served in its place. */
export function readConsole(
  folder = fileURLToPath(new URL("../../console/dist", import.meta.url)),
): ConsoleFiles | undefined {
  const page = join(folder, "index.html");
  const assets = join(folder, "assets");
  if (!existsSync(page) || !existsSync(assets)) return undefined;
  return {
    page: readConsoleFile(page),
    assets: new Map(readdirSync(assets).map((name) => [name, readConsoleFile(join(assets, name))])),
  };
}

/** Compressed once, at the start: the files are few and small. */
function readConsoleFile(path: string): ConsoleFile {
  const body = readFileSync(path);
  const type = types[extname(path)] ?? "application/octet-stream";
  const gzip = type.startsWith("font/") ? undefined : gzipSync(body);
  return { type, body, gzip: gzip !== undefined && gzip.length < body.length ? gzip : undefined };
}
