import { type Finding, importsOf, isCode, parse, resolveRelative } from "./source.ts";

/**
 * Who may import whom. A layer is a folder or a file under src/; it may always import itself. `schemas` are the zod
 * schemas that kinds and the API share with programs outside; `registry` is the list of kinds.
 */
const arrows: Readonly<Record<string, readonly string[]>> = {
  ports: [],
  kernel: ["ports"],
  providers: ["kernel", "ports"],
  kinds: ["kernel", "ports"],
  registry: ["kinds", "kernel", "ports"],
  store: ["kernel", "ports"],
  fabric: ["kernel", "ports"],
  scheduler: ["kernel", "ports"],
  worker: ["kernel", "ports"],
  "control-api": ["kernel", "ports", "store", "schemas"],
  cli: ["schemas"],
  runtime: ["ports"],
  world: ["runtime", "ports", "schemas"],
  "config.ts": ["ports"],
  "index.ts": ["kernel", "ports"],
  examples: ["index.ts"],
};

/** The composition root and the files it delegates to may import every layer. */
const composes = new Set(["main.ts", "compose"]);

/** Layers that must stay pure name the modules they may use: their work has to run the same in the simulation. */
const allowedModules: Readonly<Record<string, readonly string[]>> = {
  ports: [],
  kernel: ["node:crypto", "zod"],
};

/** Layers that reach the outside through ports alone may use any module but these. */
const withoutInputOutput = new Set(["scheduler", "worker", "kinds"]);
const inputOutputModules =
  /^(node:(fs|net|tls|http|https|http2|dgram|dns|child_process|cluster|worker_threads|readline)(\/.*)?|pg|undici|fastify)$/;

/** The layer of a file; undefined for tests, benchmarks and scripts, which may import anything. */
export function layerOf(path: string): string | undefined {
  const [top, second] = path.split("/");
  if (top === "examples") return "examples";
  if (top !== "src" || second === undefined) return undefined;
  if (path === "src/kinds/registry.ts") return "registry";
  return second;
}

/** Schemas: src/kinds/NAME/schema.ts (or something-schema.ts there), and src/control-api/schemas.ts or its folder. */
export function isSchema(path: string): boolean {
  return /^src\/kinds\/[^/]+\/([^/]+-)?schema\.ts$|^src\/control-api\/schemas(\.ts|\/.+)$/.test(path);
}

export function importArrows(path: string, text: string): Finding[] {
  const from = layerOf(path);
  if (from === undefined || !isCode(path)) return [];
  const allowed = arrows[from];
  if (allowed === undefined && !composes.has(from)) {
    return [{ path, line: 1, message: `src/${from} is in no layer: add it to the table in test/tidy/arrows.ts` }];
  }
  return importsOf(parse(path, text)).flatMap(({ specifier, line }) => {
    const message = refusal(path, from, allowed, specifier);
    return message === undefined ? [] : [{ path, line, message }];
  });
}

function refusal(
  path: string,
  from: string,
  allowed: readonly string[] | undefined,
  specifier: string,
): string | undefined {
  const target = resolveRelative(path, specifier);
  if (target === undefined) return moduleRefusal(from, specifier);
  const to = layerOf(target);
  if (to === undefined) return `${from} may not import ${target}: code that ships may not need what does not`;
  if (to === from || allowed === undefined || allowed.includes(to)) return undefined;
  if (allowed.includes("schemas") && isSchema(target)) return undefined;
  const may = allowed.length === 0 ? "nothing" : allowed.join(", ");
  return `${from} may not import ${target}: it may import ${may}`;
}

function moduleRefusal(from: string, specifier: string): string | undefined {
  const modules = allowedModules[from];
  if (modules !== undefined && !modules.includes(specifier)) {
    return `${from} may not import ${specifier}: it may use ${modules.length === 0 ? "no module" : modules.join(", ")}`;
  }
  if (withoutInputOutput.has(from) && inputOutputModules.test(specifier)) {
    return `${from} may not import ${specifier}: it reaches the outside through ports`;
  }
  return undefined;
}
