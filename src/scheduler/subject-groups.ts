import { fnv1a, SHARDS } from "../kernel/hash.ts";

/** What subjects share: whose they are, where, of what kind, and in which shard. One object per group, not per subject. */
export interface SubjectGroup {
  readonly index: number;
  readonly organizationId: string;
  readonly accountId: string | undefined;
  readonly kind: string;
  readonly shard: number;
  readonly everyMs: number;
  /** Where in the interval its looks begin; any number. */
  readonly phase: number;
  subjects: number;
}

/** Interns groups, and forgets one with its last subject. */
export class SubjectGroups {
  readonly #everyMsOf: (kind: string) => number;
  readonly #byKey = new Map<string, SubjectGroup>();
  readonly #groups: (SubjectGroup | undefined)[] = [];
  readonly #free: number[] = [];
  #shards = new Uint8Array(64);
  #loops = new Uint32Array(64);
  readonly #kinds: string[] = [];
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

  /** Shard by group index, for passes over all rows. */
  get shards(): Uint8Array<ArrayBuffer> {
    return this.#shards;
  }

  /** By group index: which loop in which shard, as `loopOf` reads it. */
  get loops(): Uint32Array<ArrayBuffer> {
    return this.#loops;
  }

  /** One more than the largest number in `loops`. */
  get loopsEnd(): number {
    return this.#kinds.length * SHARDS;
  }

  loopOf(loop: number): { readonly shard: number; readonly kind: string } {
    return { shard: loop % SHARDS, kind: this.#kinds[Math.floor(loop / SHARDS)] ?? "" };
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

  /** How many subjects each shard has. */
  subjectsByShard(): Uint32Array {
    const subjects = new Uint32Array(SHARDS);
    for (const group of this.#groups) {
      if (group !== undefined) subjects[group.shard] = (subjects[group.shard] as number) + group.subjects;
    }
    return subjects;
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
      const phase = accountId === undefined ? 0 : fnv1a(accountId);
      group = { index, organizationId, accountId, kind, shard, everyMs: this.#everyMsOf(kind), phase, subjects: 0 };
      this.#groups[index] = group;
      this.#byKey.set(key, group);
      if (index >= this.#shards.length) this.#double();
      this.#shards[index] = shard;
      this.#loops[index] = this.#kindIndex(kind) * SHARDS + shard;
    }
    this.#latest = group;
    return group;
  }

  /** Kinds are few, and stay. */
  #kindIndex(kind: string): number {
    const known = this.#kinds.indexOf(kind);
    return known >= 0 ? known : this.#kinds.push(kind) - 1;
  }

  #double(): void {
    const shards = new Uint8Array(this.#shards.length * 2);
    shards.set(this.#shards);
    this.#shards = shards;
    const loops = new Uint32Array(this.#loops.length * 2);
    loops.set(this.#loops);
    this.#loops = loops;
  }
}

function keyOf(
  entry: { readonly organizationId: string; readonly accountId: string | undefined; readonly kind: string },
  shard: number,
): string {
  return `${shard}\n${entry.organizationId}\n${entry.accountId ?? ""}\n${entry.kind}`;
}
