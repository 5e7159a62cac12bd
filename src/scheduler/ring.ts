/** A member of a ring carries its own links, so that joining, leaving and moving to the end cost the same however long the ring is. */
export interface Linked<T> {
  next: T | undefined;
  previous: T | undefined;
}

/** A circular list. The first member is the one whose turn it is. */
export class Ring<T extends Linked<T>> {
  #first: T | undefined;
  #size = 0;

  get first(): T | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** Joins at the end: everyone already here has a turn before. */
  push(member: T): void {
    this.#size += 1;
    const first = this.#first;
    if (first === undefined) {
      member.next = member;
      member.previous = member;
      this.#first = member;
      return;
    }
    const last = first.previous ?? first;
    member.next = first;
    member.previous = last;
    last.next = member;
    first.previous = member;
  }

  remove(member: T): void {
    this.#size -= 1;
    if (this.#size === 0) {
      this.#first = undefined;
    } else {
      const { next, previous } = member;
      if (previous !== undefined) previous.next = next;
      if (next !== undefined) next.previous = previous;
      if (this.#first === member) this.#first = next;
    }
    member.next = undefined;
    member.previous = undefined;
  }

  /** The member had its turn: it goes behind everyone else. */
  moveToEnd(member: T): void {
    if (this.#size < 2) return;
    this.remove(member);
    this.push(member);
  }
}
