import { hash as digest } from "node:crypto";
import type { ChainedEntry } from "./export-chain.ts";

const quote = 0x22;
const literal = (text: string) => Buffer.from(text, "latin1");
const [colon, comma, newLine, opening, closing] = [":", ",", "\n", "{", "}"].map(literal) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer,
];
const words = ["true", "false", "null"].map(literal);
/** Beyond this the line is unusual. */
const deepest = 20;
const longestInteger = 15;

/** Where a part of the line stands. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads an entry as we write it, byte by byte and without making objects of it, and gives up on everything that is unusual
 * (escapes, letters beyond ASCII, fractions, another order of fields): then JSON reads it. Whatever this accepts the slow way
 * accepts with the same result. It is what makes a log of millions checkable in seconds.
 */
export class EntryReader {
  #line: Buffer = Buffer.alloc(0);
  #at = 0;
  #odd = false;
  #part = false;
  #out = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  /** What only a part of the log is checked by (organization and link) is left out where all of it is. */
  read(line: Buffer, of: "platform" | "organization"): ChainedEntry | undefined {
    this.#line = line;
    this.#part = of === "organization";
    this.#at = 0;
    this.#odd = false;
    this.#length = 0;
    // What is written is at most as long as what is read.
    if (this.#out.length < line.length) this.#out = Buffer.allocUnsafe(line.length * 2);
    return this.#entry();
  }

  #entry(): ChainedEntry | undefined {
    const incarnation = this.#after(names.incarnation, integer);
    const position = this.#after(names.position, integer);
    const organizationId = this.#after(names.organizationId, string);
    const type = this.#after(names.type, string);
    const uid = this.#maybe(names.uid, string);
    const revision = this.#maybe(names.revision, integer);
    const actor = this.#after(names.actor, string);
    const data = this.#after(names.data, anything);
    const trail = this.#maybe(names.trail, texts);
    const atMs = this.#after(names.atMs, integer);
    const linkPosition = this.#maybe(names.tenantLink, integer);
    const linkHash = linkPosition === undefined ? undefined : this.#after(names.linkHash, string);
    if (linkHash !== undefined) this.#skip(closing);
    const previousHash = this.#after(names.previousHash, string);
    const hash = this.#after(names.hash, string);
    this.#skip(closing);
    if (this.#odd || this.#at !== this.#line.length) return undefined;

    this.#copy(previousHash.start + 1, previousHash.end - 1);
    this.#put(newLine);
    this.#field(sortedNames.actor, actor);
    this.#field(sortedNames.atMs, atMs);
    this.#field(sortedNames.data, data);
    this.#field(sortedNames.incarnation, incarnation);
    this.#field(sortedNames.organizationId, organizationId);
    this.#field(sortedNames.position, position);
    this.#field(sortedNames.revision, revision);
    this.#field(sortedNames.linkHash, linkHash);
    this.#field(sortedNames.linkPosition, linkPosition);
    if (linkPosition !== undefined) this.#put(closing);
    this.#field(sortedNames.trail, trail);
    this.#field(sortedNames.type, type);
    this.#field(sortedNames.uid, uid);
    this.#put(closing);
    if (this.#odd) return undefined;
    return {
      position: this.#number(position),
      organizationId: this.#part ? this.#text(organizationId) : "",
      previousHash: this.#text(previousHash),
      tenantLink:
        linkPosition === undefined || linkHash === undefined || !this.#part
          ? undefined
          : { position: this.#number(linkPosition), hash: this.#text(linkHash) },
      hash: this.#text(hash),
      computedHash: digest("sha256", this.#out.subarray(0, this.#length), "hex"),
    };
  }

  #after(name: Buffer, what: What): Span {
    this.#skip(name);
    return this.#span(what);
  }

  #maybe(name: Buffer, what: What): Span | undefined {
    return this.#has(name) ? this.#span(what) : undefined;
  }

  #span(what: What): Span {
    const start = this.#at;
    if (what === integer) this.#skipInteger();
    else if (what === string) this.#skipString();
    else if (what === texts) this.#skipObject(0, true);
    else this.#skipValue(0);
    return { start, end: this.#at };
  }

  #has(wanted: Buffer): boolean {
    const line = this.#line;
    const at = this.#at;
    for (let index = 0; index < wanted.length; index++) if (line[at + index] !== wanted[index]) return false;
    this.#at = at + wanted.length;
    return true;
  }

  #skip(wanted: Buffer): void {
    if (!this.#has(wanted)) this.#odd = true;
  }

  #skipString(): void {
    const line = this.#line;
    let at = this.#at + 1;
    if (line[this.#at] !== quote) this.#odd = true;
    for (; ; at++) {
      const byte = line[at] ?? 0;
      if (byte === quote) break;
      // Behind the end stands nothing, which is as odd as an escape.
      if (byte < 0x20 || byte > 0x7e || byte === 0x5c) {
        this.#odd = true;
        return;
      }
    }
    this.#at = at + 1;
  }

  /** A whole number as JSON writes it, short enough to be exact. */
  #skipInteger(): void {
    const line = this.#line;
    const start = this.#at;
    let at = start;
    while (isDigit(line[at] ?? 0)) at++;
    this.#at = at;
    if (at === start || at - start > longestInteger || (at - start > 1 && line[start] === 0x30)) this.#odd = true;
  }

  #skipValue(depth: number): void {
    if (this.#odd || depth > deepest) {
      this.#odd = true;
      return;
    }
    const byte = this.#line[this.#at];
    if (byte === quote) this.#skipString();
    else if (byte === 0x7b) this.#skipObject(depth + 1, false);
    else if (byte === 0x5b) this.#skipList(depth + 1);
    else if (!words.some((word) => this.#has(word))) this.#skipInteger();
  }

  #skipList(depth: number): void {
    this.#at++;
    if (this.#line[this.#at] === 0x5d) {
      this.#at++;
      return;
    }
    do this.#skipValue(depth);
    while (!this.#odd && this.#has(comma));
    if (this.#line[this.#at] !== 0x5d) this.#odd = true;
    this.#at++;
  }

  #skipObject(depth: number, textsOnly: boolean): void {
    this.#skip(opening);
    if (this.#has(closing)) return;
    do {
      this.#skipString();
      this.#skip(colon);
      if (textsOnly) this.#skipString();
      else this.#skipValue(depth);
    } while (!this.#odd && this.#has(comma));
    this.#skip(closing);
  }

  #field(name: Buffer, span: Span | undefined): void {
    if (span === undefined) return;
    this.#put(name);
    this.#at = span.start;
    this.#write(span.end);
  }

  /** The value that stands here, with the keys of its objects sorted. It was skipped before, so that its form is known. */
  #write(end: number): void {
    const byte = this.#line[this.#at];
    if (byte === 0x7b) return this.#writeObject();
    if (byte !== 0x5b) {
      this.#copy(this.#at, end);
      this.#at = end;
      return;
    }
    while (this.#at < end && !this.#odd) {
      const inside = this.#line[this.#at] ?? 0;
      if (inside === 0x7b) this.#writeObject();
      else if (inside === quote) {
        const start = this.#at;
        this.#skipString();
        this.#copy(start, this.#at);
      } else {
        this.#copy(this.#at, this.#at + 1);
        this.#at++;
      }
    }
  }

  #writeObject(): void {
    this.#put(opening);
    this.#at++;
    const fields: Field[] = [];
    while (this.#line[this.#at] !== 0x7d && !this.#odd) {
      if (fields.length > 0) this.#at++;
      const key = this.#span(string);
      this.#at++;
      const value = this.#span(anything);
      if (this.#isOddKey(key)) this.#odd = true;
      this.#insert(fields, { key, value });
    }
    if (this.#odd) return;
    const behind = this.#at + 1;
    fields.forEach(({ key, value }, index) => {
      if (index > 0) this.#put(comma);
      this.#copy(key.start, key.end);
      this.#put(colon);
      this.#at = value.start;
      this.#write(value.end);
    });
    this.#put(closing);
    this.#at = behind;
  }

  /** In the order of the keys. Objects are small: moving a few beats sorting all. */
  #insert(fields: Field[], field: Field): void {
    let at = fields.length;
    for (; at > 0; at--) {
      const before = fields[at - 1];
      if (before === undefined) break;
      const order = this.#compare(before.key, field.key);
      if (order === 0) this.#odd = true;
      if (order <= 0) break;
      fields[at] = before;
    }
    fields[at] = field;
  }

  /** Without their quotes: a key comes before those that begin with it. */
  #compare(left: Span, right: Span): number {
    const line = this.#line;
    const shorter = Math.min(left.end - left.start, right.end - right.start) - 2;
    for (let index = 1; index <= shorter; index++) {
      const order = (line[left.start + index] ?? 0) - (line[right.start + index] ?? 0);
      if (order !== 0) return order;
    }
    return left.end - left.start - (right.end - right.start);
  }

  /** Numbers are not kept in the order they were written in, and this name is no field of an object. */
  #isOddKey(key: Span): boolean {
    const first = this.#line[key.start + 1] ?? 0;
    return isDigit(first) || (first === 0x5f && this.#text(key) === "__proto__");
  }

  #put(bytes: Buffer): void {
    for (let index = 0; index < bytes.length; index++) this.#out[this.#length + index] = bytes[index] ?? 0;
    this.#length += bytes.length;
  }

  #copy(start: number, end: number): void {
    const [line, out, length] = [this.#line, this.#out, this.#length - start];
    for (let index = start; index < end; index++) out[length + index] = line[index] ?? 0;
    this.#length += end - start;
  }

  #text({ start, end }: Span): string {
    return this.#line.toString("latin1", start + 1, end - 1);
  }

  #number({ start, end }: Span): number {
    let value = 0;
    for (let at = start; at < end; at++) value = value * 10 + (this.#line[at] ?? 0) - 0x30;
    return value;
  }
}

interface Field {
  readonly key: Span;
  readonly value: Span;
}

const [integer, string, texts, anything] = [0, 1, 2, 3] as const;
type What = typeof integer | typeof string | typeof texts | typeof anything;

/** As an export has them, in its order. */
const names = {
  incarnation: literal('{"incarnation":'),
  position: literal(',"position":'),
  organizationId: literal(',"organizationId":'),
  type: literal(',"type":'),
  uid: literal(',"uid":'),
  revision: literal(',"revision":'),
  actor: literal(',"actor":'),
  data: literal(',"data":'),
  trail: literal(',"trail":'),
  atMs: literal(',"atMs":'),
  tenantLink: literal(',"tenantLink":{"position":'),
  linkHash: literal(',"hash":'),
  previousHash: literal(',"previousHash":'),
  hash: literal(',"hash":'),
};

/** As they are hashed: sorted. */
const sortedNames = {
  actor: literal('{"actor":'),
  atMs: literal(',"atMs":'),
  data: literal(',"data":'),
  incarnation: literal(',"incarnation":'),
  organizationId: literal(',"organizationId":'),
  position: literal(',"position":'),
  revision: literal(',"revision":'),
  linkHash: literal(',"tenantLink":{"hash":'),
  linkPosition: literal(',"position":'),
  trail: literal(',"trail":'),
  type: literal(',"type":'),
  uid: literal(',"uid":'),
};

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
