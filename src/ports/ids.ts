export interface Ids {
  /** A new unique id (a UUID that sorts by time). */
  next(): string;
}
