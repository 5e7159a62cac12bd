/**
 * What was last read of each zone, for as long as the server's serial says that nothing changed. A serial is a promise of
 * the server and not a proof, so that now and then the zone is read whole all the same.
 */
export class ZoneMemory<Image extends { readonly size: number }> {
  readonly #zones = new Map<string, { readonly serial: number; readonly image: Image; uses: number }>();
  readonly #mostRecords: number;
  readonly #mostUses: number;

  constructor({ mostRecords = 500_000, mostUses = 12 } = {}) {
    this.#mostRecords = mostRecords;
    this.#mostUses = mostUses;
  }

  /** Undefined when it is not known, or has been relied upon often enough. */
  last(zone: string): { readonly serial: number; readonly image: Image } | undefined {
    const known = this.#zones.get(zone);
    if (known === undefined) return undefined;
    this.#zones.delete(zone);
    if (known.uses >= this.#mostUses) return undefined;
    known.uses++;
    this.#zones.set(zone, known);
    return known;
  }

  /** What is kept, without relying on it: somebody has read the zone anew and compares. */
  peek(zone: string): { readonly serial: number; readonly image: Image } | undefined {
    return this.#zones.get(zone);
  }

  keep(zone: string, serial: number, image: Image): void {
    const uses = this.#zones.get(zone)?.uses ?? 0;
    this.#zones.delete(zone);
    this.#zones.set(zone, { serial, image, uses });
    let records = 0;
    for (const { image: kept } of this.#zones.values()) records += kept.size;
    // The one that was not used for the longest time goes first.
    for (const [name, { image: kept }] of this.#zones) {
      if (records <= this.#mostRecords) return;
      records -= kept.size;
      this.#zones.delete(name);
    }
  }

  forget(zone: string): void {
    this.#zones.delete(zone);
  }
}
