import { queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client.ts";
import { agesReadEveryMs, base, keys } from "../../api/queries.ts";
import type {
  ComparisonDocument,
  DeclarationDocument,
  HistoryDocument,
  ObservationDocument,
  PlanDocument,
  ResourceDocument,
  WhyDocument,
} from "../../api/types.ts";

/** Everything about one object is read below one key, which the stream of changes knows. */
const part = <Answer>(organization: string, path: string, name: string) => {
  const link = `${base(organization)}/${path}`;
  return queryOptions({
    queryKey: [...keys.record(organization, "object"), link, name],
    queryFn: () => get<Answer>(`${link}${name === "" ? "" : `/${name}`}`),
    ...(name === "" ? { refetchInterval: agesReadEveryMs } : {}),
  });
};

export const objectQuery = (organization: string, path: string) => part<ResourceDocument>(organization, path, "");
export const whyQuery = (organization: string, path: string) => part<WhyDocument>(organization, path, "why");
export const planQuery = (organization: string, path: string) => part<PlanDocument>(organization, path, "plan");
export const historyQuery = (organization: string, path: string) =>
  part<{ items: readonly HistoryDocument[] }>(organization, path, "history");
export const declarationsQuery = (organization: string, path: string) =>
  part<{ items: readonly DeclarationDocument[] }>(organization, path, "declarations");
export const observationQuery = (organization: string, path: string) =>
  part<ObservationDocument>(organization, path, "observation");
export const comparisonQuery = (organization: string, path: string) =>
  part<ComparisonDocument>(organization, path, "comparison");
