import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Repository } from "./source.ts";

/** Folders that are installed or generated. Hidden folders are left out too, except CI's. */
const notOurs = new Set(["node_modules", "coverage", "dist"]);

/** All text files of the repository. The folder is walked, because git refuses a clone that belongs to another user. */
export function readRepository(root: string): Repository {
  const files = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!notOurs.has(entry.name) && (!entry.name.startsWith(".") || entry.name === ".ci")) visit(path);
      } else if (entry.isFile() && !/\.log$|^\.install-lock$/.test(entry.name)) {
        const text = readFileSync(join(root, path), "utf8");
        // Of a picture only that it is there matters: documents show it.
        if (entry.name.endsWith(".png")) files.set(path, "");
        else if (!text.includes("\0")) files.set(path, text);
      }
    }
  };
  visit("");
  return files;
}
