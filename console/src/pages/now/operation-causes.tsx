import { queryOptions } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get, query } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { OperationDocument } from "../../api/types.ts";
import type { Cause } from "./cause.ts";

/** Operations that need somebody. Asked again now and then: a hold grows old without anything happening. */
export const needingSomebodyQuery = (organization: string) =>
  queryOptions({
    queryKey: [...keys.record(organization, "operation"), "attention"],
    queryFn: async () =>
      (
        await get<{ items: readonly OperationDocument[] }>(
          `${base(organization)}/operations${query({ attention: true, pageSize: 20 })}`,
        )
      ).items,
    refetchInterval: 10_000,
    retry: false,
  });

/** One operation that cannot go on alone: where it stands, in the outside's own words, and why somebody should look. */
export function operationCause(organization: string, operation: OperationDocument): Cause {
  const { id, pipeline, resource, state, message, attentionBecause, holdSince, createdAt } = operation;
  return {
    key: `operation ${id}`,
    tone: state === "attention" ? "bad" : state === "held" ? "hold" : "warn",
    icon: state === "attention" ? "person" : state === "held" ? "hand" : "clock",
    title: (
      <Link
        to="/o/$organization/operations/$id"
        params={{ organization, id }}
        className="text-accent break-words hover:underline"
      >
        {pipeline} of {resource.kind}/{resource.name}
      </Link>
    ),
    note: `${message}${attentionBecause === undefined ? "" : ` · ${attentionBecause}`}`,
    since: holdSince ?? createdAt,
    resources: [],
    resourceCount: 0,
  };
}
