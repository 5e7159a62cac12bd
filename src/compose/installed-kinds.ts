import { pathToFileURL } from "node:url";
import { thrownMessage } from "../kernel/errors.ts";
import type { Kind, KindRegistry } from "../kernel/kind.ts";
import { kinds as shipped } from "../kinds/registry.ts";
import { StartError } from "./start-error.ts";

/** What a module named in SETPOINT_KINDS exports. */
interface KindModule {
  kinds(options: { readonly dataDirectory: string }): readonly Kind[];
}

/** The kinds of this installation: those that ship with Setpoint and those of the modules the operator named. */
export async function installedKinds(options: {
  readonly modules: readonly string[];
  readonly dataDirectory: string;
}): Promise<KindRegistry> {
  const all = new Map(shipped);
  for (const path of options.modules) {
    for (const kind of (await load(path)).kinds({ dataDirectory: options.dataDirectory })) {
      if (all.has(kind.kind))
        throw new StartError(
          `${path} brings the kind '${kind.kind}', which exists already. Rename it, or take the module out of SETPOINT_KINDS.`,
        );
      all.set(kind.kind, kind);
    }
  }
  return all;
}

async function load(path: string): Promise<KindModule> {
  const loaded: unknown = await import(pathToFileURL(path).href).catch((cause: unknown) => {
    const reason = thrownMessage(cause);
    throw new StartError(`${path}, named in SETPOINT_KINDS, cannot be loaded: ${reason}`);
  });
  if (isKindModule(loaded)) return loaded;
  throw new StartError(
    `${path}, named in SETPOINT_KINDS, must export a function "kinds" that returns the kinds it brings. docs/write-a-kind.md shows one.`,
  );
}

function isKindModule(loaded: unknown): loaded is KindModule {
  return typeof loaded === "object" && loaded !== null && "kinds" in loaded && typeof loaded.kinds === "function";
}
