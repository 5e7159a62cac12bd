import type { ComparedItem } from "../api/parts.ts";
import type { ComparisonDocument } from "../api/types.ts";

/** A resource in which something differs, and of that: one item alone, or everything with one cause. */
export interface DriftTarget {
  readonly kind: string;
  readonly name: string;
  /** Below its organization, in the words of the API's routes. */
  readonly path: string;
  /** The key of the item, where it is about one alone. */
  readonly item?: string;
  /** The fields that are meant; without any, all of them. */
  readonly fields: readonly string[];
}

/** The items of a comparison that a target is about. */
export function itemsOf({ subjects }: ComparisonDocument, { item, fields }: DriftTarget): readonly ComparedItem[] {
  return subjects
    .flatMap(({ items }) => items)
    .filter(
      (one) =>
        (item === undefined || one.key === item) &&
        (one.state === "differs" || one.state === "ignored") &&
        (fields.length === 0 || one.fields.some(({ field }) => fields.some((wide) => isIn(wide, field)))),
    );
}

function isIn(wide: string, field: string): boolean {
  return field === wide || field.startsWith(`${wide}/`);
}

/** The scope that a resource lives in, as a path below the organization with a slash behind it; empty: the organization. */
export function scopeOf({ path }: Pick<DriftTarget, "path">): string {
  const above = path.split("/").slice(0, -2).join("/");
  return above === "" ? "" : `${above}/`;
}
