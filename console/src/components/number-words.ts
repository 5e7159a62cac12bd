import { duration, fullTime } from "./time.tsx";

/** Milliseconds since 1970 that are later than this are a moment; fewer are how long something takes. */
const earliestMomentMs = Date.UTC(2001, 0, 1);

/** A number of a guard with its name, for people: `expiresAtMs` is a time of day, `waitMs` a while, `atLeast` two words. */
export function numberWords(name: string, value: number): string {
  const isTime = name.endsWith("Ms");
  const words = (isTime ? name.slice(0, -"Ms".length) : name).replaceAll(
    /[A-Z]/g,
    (letter) => ` ${letter.toLowerCase()}`,
  );
  if (!isTime) return `${words} ${value}`;
  return `${words} ${value >= earliestMomentMs ? fullTime(new Date(value).toISOString()) : duration(value)}`;
}
