import type { Manifest, ResourceDocument } from "../../api/types.ts";

/** What a person would write to declare it just as it is. */
export function manifestOf({ apiVersion, kind, metadata, spec }: ResourceDocument): Manifest {
  const { name, labels, mode, protect } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(mode === undefined ? {} : { mode }),
      ...(protect ? { protect } : {}),
    },
    spec,
  };
}
