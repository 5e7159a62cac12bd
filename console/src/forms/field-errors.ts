/** What the server said about fields, by their pointers. */
export type FieldErrors = ReadonlyMap<string, string>;

/** What was said about a field, or about one of the entries that are written in it together. */
export function errorAt(errors: FieldErrors, pointer: string): string | undefined {
  const own = errors.get(pointer);
  if (own !== undefined) return own;
  const [below, message] = [...errors].find(([at]) => at.startsWith(`${pointer}/`)) ?? [];
  if (below === undefined) return undefined;
  const entry = below.slice(pointer.length + 1);
  return `${/^\d+$/.test(entry) ? `entry ${Number(entry) + 1}` : entry}: ${message}`;
}

/** Whether something was said about a field or about what is in it. */
export function hasErrorAt(errors: FieldErrors, pointer: string): boolean {
  return [...errors.keys()].some((at) => at === pointer || at.startsWith(`${pointer}/`));
}
