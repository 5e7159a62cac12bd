import { queryOptions } from "@tanstack/react-query";
import { get, query } from "../../api/client.ts";
import type { ResourcePage } from "../../api/parts.ts";
import { base, keys } from "../../api/queries.ts";
import type { LoopsDocument, ResourceDocument } from "../../api/types.ts";
import { pathOf } from "../../components/object-link.tsx";
import { plainWords } from "../../components/plain-words.ts";
import type { Cause } from "./cause.ts";

const most = 100;

/** What does not work or is not known, the newest of each; among them is what could not be looked at. */
export const failedLooksQuery = (organization: string) =>
  queryOptions({
    queryKey: [...keys.record(organization, "resources"), "failed-looks"],
    queryFn: async () => {
      const read = (ready: string) =>
        get<ResourcePage>(`${base(organization)}/resources${query({ ready, pageSize: most })}`);
      return (await Promise.all(["unknown", "false"].map(read))).flatMap(({ items }) => items);
    },
  });

/** The guard that speaks when a look failed or was not whole: it says why, in the outside's own words, and the same to all it concerns. */
const guard = "Guard/complete-reads";

/** A provider that is silent, fails or answers half a list is one cause for everything that was to be seen there. */
export function failedLookCauses(
  resources: readonly ResourceDocument[],
  loops: LoopsDocument | undefined,
): readonly Cause[] {
  const said = resources.flatMap((resource) => {
    const condition = resource.status.conditions.find(({ type }) => type === guard);
    return condition === undefined ? [] : [{ resource, condition }];
  });
  const byCause = Map.groupBy(said, ({ resource, condition }) => `${resource.kind} ${condition.message}`);
  return [...byCause].map(([key, group]) => {
    const [first] = group;
    return {
      key,
      tone: "warn",
      icon: "question",
      title: `${first?.resource.kind ?? ""}: not seen`,
      note: plainWords(first?.condition.message ?? ""),
      since: group.flatMap(({ condition }) => condition.since ?? []).toSorted()[0] ?? "",
      resources: group.map(({ resource }) => ({ name: resource.metadata.name, path: pathOf(resource, loops) })),
      resourceCount: group.length,
    };
  });
}
