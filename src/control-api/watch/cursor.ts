import type { LogPosition } from "../../ports/read-store.ts";
import { Problem } from "../problem.ts";

/** Where a reader of the log stands. After a restore positions begin to mean something else, so the incarnation is in it. */
export interface Cursor {
  readonly incarnation: number;
  readonly position: number;
}

export function cursorText({ incarnation, position }: Cursor): string {
  return `${incarnation}.${position}`;
}

/** Refused when what came behind it is not known any more: then only a new list helps. */
export function requireCursor(text: string, log: LogPosition): Cursor {
  const [, incarnation, position] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  if (incarnation === undefined || position === undefined)
    throw new Problem(
      "FIELDS_INVALID",
      `"${text.slice(0, 80)}" is not a cursor: take it from metadata.position or an event's id`,
      {
        errors: [{ pointer: "/cursor", message: "must look like 1.42" }],
      },
    );
  const cursor = { incarnation: Number(incarnation), position: Number(position) };
  if (cursor.incarnation !== log.incarnation)
    throw gone("it is from before a restore of this installation, or from another one");
  if (cursor.position < log.cutPosition) throw gone("what came behind it is no longer kept");
  if (cursor.position > log.position) throw gone("this installation has not come that far");
  return cursor;
}

function gone(why: string): Problem {
  return new Problem(
    "CURSOR_GONE",
    `The cursor cannot be gone on from: ${why}. List again, then watch from metadata.position`,
  );
}
