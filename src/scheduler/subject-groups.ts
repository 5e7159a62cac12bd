/** What subjects share: whose they are, where, of what kind, and in which shard. One object per group, not per subject. */
export interface SubjectGroup {
  readonly index: number;
  readonly organizationId: string;
  readonly accountId: string | undefined;
  readonly kind: string;
  readonly shard: number;
  readonly everyMs: number;
  subjects: number;
}

/** Interns groups, and forgets one with its last subject. */
export class SubjectGroups {
  readonly #everyMsOf: (kind: string) => number;
  readonly #byKey = new Map<string, SubjectGroup>();
  readonly #groups: (SubjectGroup | undefined)[] = [];
  readonly #free: number[] = [];
  /** Listings come sorted by id and neighbours are mostly of one group: comparing four fields beats building a key. */
  #latest: SubjectGroup | undefined;

  constructor(everyMsOf: (kind: string) => number) {
    this.#everyMsOf = everyMsOf;
  }

  get(index: number): SubjectGroup {
    const group = this.#groups[index];
    if (group === undefined)
      throw new Error(`Subject group ${index} was expected to exist; the subject table and its groups have parted`);
    return group;
  }

  shardOf(index: number): number {
    return this.get(index).shard;
  }

  /** The group of a subject that joins it. */
  join(
    entry: { readonly organizationId: string; readonly accountId: string | undefined; readonly kind: string },
    shard: number,
  ): SubjectGroup {
    const group = this.#find(entry, shard);
    group.subjects += 1;
    return group;
  }

  leave(index: number): void {
    const group = this.get(index);
    group.subjects -= 1;
    if (group.subjects > 0) return;
    this.#byKey.delete(keyOf(group, group.shard));
    this.#groups[index] = undefined;
    this.#free.push(index);
    if (this.#latest === group) this.#latest = undefined;
  }

  /** Accounts with a subject in the shard, each once. */
  accountsOf(shard: number): ReadonlySet<string> {
    const accounts = new Set<string>();
    for (const group of this.#groups)
      if (group?.shard === shard && group.accountId !== undefined) accounts.add(group.accountId);
    return accounts;
  }

  #find(
    entry: { readonly organizationId: string; readonly accountId: string | undefined; readonly kind: string },
    shard: number,
  ): SubjectGroup {
    const { accountId, kind, organizationId } = entry;
    const latest = this.#latest;
    if (
      latest !== undefined &&
      latest.organizationId === organizationId &&
      latest.accountId === accountId &&
      latest.kind === kind &&
      latest.shard === shard
    )
      return latest;
    const key = keyOf(entry, shard);
    let group = this.#byKey.get(key);
    if (group === undefined) {
      const index = this.#free.pop() ?? this.#groups.length;
      group = { index, organizationId, accountId, kind, shard, everyMs: this.#everyMsOf(kind), subjects: 0 };
      this.#groups[index] = group;
      this.#byKey.set(key, group);
    }
    this.#latest = group;
    return group;
  }
}

function keyOf(
  entry: { readonly organizationId: string; readonly accountId: string | undefined; readonly kind: string },
  shard: number,
): string {
  return `${shard}\n${entry.organizationId}\n${entry.accountId ?? ""}\n${entry.kind}`;
}
