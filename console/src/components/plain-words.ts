import { fullTime } from "./time.tsx";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/** The API's words are for every reader; on a page that links to what they name, ids and times are said shorter. */
export function plainWords(words: string): string {
  return (
    words
      .replaceAll(new RegExp(`resource/${uuid}`, "g"), "the resource itself")
      .replaceAll(new RegExp(`organization/${uuid}`, "g"), "the organization")
      // An id behind a command is part of it: without it, there is nothing to type.
      .replaceAll(new RegExp(`(setpoint(?: [a-z-]+)+)? ${uuid}`, "g"), (all, command?: string) =>
        command === undefined ? "" : all,
      )
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => fullTime(time))
  );
}
