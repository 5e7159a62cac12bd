import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { RetryableError } from "setpoint";
import { z } from "zod";
import type { Backend } from "./key-value-set.ts";
import type { Shelf } from "./publishing.ts";

type Items = Map<string, string>;

/** Items that last as long as the program. */
export function memoryBackend(items: Items): Backend & Shelf {
  return backendOf(
    () => items,
    () => {},
  );
}

/** Items in a file that people edit too. */
export function jsonFileBackend(path: string): Backend & Shelf {
  return backendOf(
    () => readItems(path),
    (items) => {
      // Written whole beside the file and then put in its place, so that nobody ever reads half of it.
      writeFileSync(`${path}.new`, `${JSON.stringify(Object.fromEntries(items), undefined, 2)}\n`);
      renameSync(`${path}.new`, path);
    },
  );
}

function backendOf(load: () => Items, save: (items: Items) => void): Backend & Shelf {
  return {
    accounts: [],
    look: (ctx) => ctx.look(async () => [...load()].map(([key, value]) => ({ key, externalId: key, item: { value } }))),
    get: async (key) => load().get(key),
    put: async (key, value) => save(load().set(key, value)),
    remove: async (key) => {
      const items = load();
      items.delete(key);
      save(items);
    },
  };
}

/** A file that is missing or cannot be read is not an empty set: the look fails, and nothing is concluded from it. */
function readItems(path: string): Items {
  try {
    return new Map(Object.entries(z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(path, "utf8")))));
  } catch (cause) {
    const expected = `${path} must be a JSON object of texts; write {} into it to begin with none`;
    throw new RetryableError("DEPENDENCY_NOT_READY", expected, { cause, ambiguous: false });
  }
}
