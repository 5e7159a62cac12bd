import { collectDefaultMetrics, type Registry } from "@prometheus-io/client";

/** The figures of this process itself (CPU, memory, event loop), labelled with its role. */
export function processMetrics(role: string, registry: Registry): () => Promise<string> {
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  return () => registry.metrics();
}

/** One exposition out of several: the samples of a metric stand together under one HELP and TYPE, as the format asks. */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, { readonly head: string[]; readonly samples: string[] }>();
  for (const text of texts) {
    let current = "";
    for (const line of text.split("\n")) {
      if (line === "") continue;
      const name = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
      if (name !== undefined) current = name;
      const family = families.get(current) ?? { head: [], samples: [] };
      families.set(current, family);
      if (name === undefined) family.samples.push(line);
      else if (!family.head.some((known) => known.slice(0, 6) === line.slice(0, 6))) family.head.push(line);
    }
  }
  return [...families.values()].flatMap(({ head, samples }) => [...head, ...samples]).join("\n") + "\n";
}
