import type { Json } from "../ports/json.ts";
import type { DeclaredResource, PrincipalType, ResourceDeletion } from "../ports/records.ts";

/** The columns of a resource as single rows of it are read. */
export interface ResourceRow {
  readonly uid: string;
  readonly kind: string;
  readonly name: string;
  readonly scope: string;
  readonly generation: number;
  readonly spec: Json;
  readonly labels: Readonly<Record<string, string>>;
  readonly author_name: string;
  readonly author_type: PrincipalType;
  readonly declared_at_ms: number;
  readonly deletion: ResourceDeletion | null;
}

export function declaredResource(row: ResourceRow): DeclaredResource {
  return {
    uid: row.uid,
    kind: row.kind,
    name: row.name,
    scope: row.scope,
    generation: row.generation,
    spec: row.spec,
    labels: row.labels,
    author: { name: row.author_name, type: row.author_type },
    declaredAtMs: row.declared_at_ms,
    deletion: row.deletion ?? undefined,
  };
}
