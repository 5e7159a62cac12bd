/**
 * The values of a metric, one per member, if they can be believed. A member without a value makes the whole reading
 * missing, and so does zero on every member at once: a source that stopped reporting looks exactly like that, and scaling
 * down on it would take away what is in use. A single member may really be idle, so it is believed.
 */
export function plausible(
  values: ReadonlyMap<string, number | undefined> | undefined,
): ReadonlyMap<string, number> | "missing" {
  if (values === undefined || values.size === 0) return "missing";
  const read = new Map<string, number>();
  for (const [member, value] of values) {
    if (value === undefined || !Number.isFinite(value)) return "missing";
    read.set(member, value);
  }
  const silent = read.size > 1 && [...read.values()].every((value) => value === 0);
  return silent ? "missing" : read;
}
