import type { LinkTarget, ResourceRow } from "./rows.ts";

/** The declared resources, found by uid and by name, and those computed with others apart: a look at one reads not all. */
export class ResourceTable extends Map<string, ResourceRow> {
  readonly #uids = new Map<string, string>();
  readonly #related = new Map<string, ResourceRow>();

  /** To be called again for a row whose links or references were changed. */
  override set(uid: string, row: ResourceRow): this {
    this.#uids.set(nameKey(row.organizationId, row), uid);
    if (row.links.length > 0 || row.refers !== undefined) this.#related.set(uid, row);
    else this.#related.delete(uid);
    return super.set(uid, row);
  }

  override delete(uid: string): boolean {
    const row = this.get(uid);
    const key = row === undefined ? "" : nameKey(row.organizationId, row);
    if (this.#uids.get(key) === uid) this.#uids.delete(key);
    this.#related.delete(uid);
    return super.delete(uid);
  }

  named(organizationId: string, target: LinkTarget): ResourceRow | undefined {
    const uid = this.#uids.get(nameKey(organizationId, target));
    return uid === undefined ? undefined : this.get(uid);
  }

  /** Those that link to others or refer to them. */
  related(): Iterable<ResourceRow> {
    return this.#related.values();
  }

  copy(): ResourceTable {
    const copy = new ResourceTable();
    for (const [uid, row] of this) copy.set(uid, { ...row });
    return copy;
  }
}

function nameKey(organizationId: string, { scope, kind, name }: LinkTarget): string {
  return `${organizationId} ${scope} ${kind} ${name}`;
}
