import type { Marker } from "../../../src/kernel/loop.ts";
import type { Thing } from "./outside.ts";

/** What the provider shows of a thing. */
export type Entry = Pick<Thing, "id" | "group" | "key" | "value" | "size" | "marker" | "lock">;

/** For whom a write is made. Real providers cannot know; the simulation checks it against the truth. */
export interface Caller {
  readonly uid: string;
}

export interface Content {
  readonly value: string;
  readonly size: number;
}

export interface SimReader {
  get(id: string): Promise<Entry | undefined>;
  find(group: string, key: string): Promise<Entry | undefined>;
  /** A zone in one answer. */
  zone(group: string): Promise<readonly Entry[]>;
}

export type ZoneChange =
  | { readonly action: "create"; readonly key: string; readonly content: Content }
  | { readonly action: "update" | "replace"; readonly key: string; readonly content: Content; readonly asSeen: Content }
  | { readonly action: "delete"; readonly key: string; readonly asSeen: Content };

export interface SimWriter {
  /** Answers with the id, or with what already has that name where names are unique. */
  create(
    caller: Caller,
    entry: { readonly group: string; readonly key: string; readonly content: Content; readonly marker: Marker },
  ): Promise<{ readonly id: string } | { readonly taken: Entry }>;
  update(caller: Caller, id: string, content: Content, marker: Marker): Promise<void>;
  remove(caller: Caller, id: string): Promise<void>;
  /** All or nothing, each change only where the record is still as it was seen. */
  changeZone(caller: Caller, group: string, changes: readonly ZoneChange[]): Promise<void>;
}

/** What only operations do. */
export interface BoxWriter extends SimWriter {
  /** Something nobody can look for or take back. The same order again does nothing. */
  send(
    caller: Caller,
    letter: { readonly group: string; readonly orderedBy: string; readonly operationId: string },
  ): Promise<void>;
}

/** One write as it is checked: what it does to which things. */
export interface WriteCall {
  readonly accountId: string;
  readonly uid: string;
  readonly changes: readonly {
    readonly effect: "create" | "update" | "delete";
    readonly key: string;
    readonly id: string | undefined;
  }[];
}

/** Things that only operations make are apart from those that loops look after. */
export const boxesOf = (group: string) => `${group}#box`;
export const lettersOf = (group: string) => `${group}#letter`;
export const isOfOperation = ({ group }: Pick<Thing, "group">) => group.includes("#");
export const isLetter = ({ group }: Pick<Thing, "group">) => group.endsWith("#letter");

export function recordId(group: string, key: string): string {
  return `${group}/${key}`;
}
