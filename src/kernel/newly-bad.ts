/**
 * Subjects whose things a cycle of this process has just found missing. They count as bad before it is written down: whoever
 * looks at the same moment would else see nobody but itself, and all would act at once.
 */
export class NewlyBad {
  /** By account; each with its site, where its kind names one. */
  readonly #subjects = new Map<string, Map<number, string | undefined>>();

  add(accountId: string, subjectId: number, site?: string): void {
    const subjects = this.#subjects.get(accountId) ?? new Map<number, string | undefined>();
    this.#subjects.set(accountId, subjects.set(subjectId, site));
  }

  /** After its cycle: the store knows by now, or it was not true. */
  delete(accountId: string, subjectId: number): void {
    const subjects = this.#subjects.get(accountId);
    subjects?.delete(subjectId);
    if (subjects?.size === 0) this.#subjects.delete(accountId);
  }

  count(accountId: string): number {
    return this.#subjects.get(accountId)?.size ?? 0;
  }

  countAt(accountId: string, site: string): number {
    const sites = [...(this.#subjects.get(accountId)?.values() ?? [])];
    return sites.filter((one) => one === site).length;
  }
}
