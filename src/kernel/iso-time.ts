const dayMs = 86_400_000;

/** Epoch milliseconds as RFC 3339 in UTC, by arithmetic alone (the civil calendar, from 1970 to 9999). */
export function isoTime(epochMs: number): string {
  const days = Math.floor(epochMs / dayMs);
  const rest = epochMs - days * dayMs;
  const { year, month, day } = civil(days);
  const clock = [Math.floor(rest / 3_600_000), Math.floor(rest / 60_000) % 60, Math.floor(rest / 1_000) % 60];
  const time = clock.map((part) => pad(part, 2)).join(":");
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${time}.${pad(Math.floor(rest % 1_000), 3)}Z`;
}

/** Days since 1970 to a date, counted in eras of 400 years that begin on 1 March, so that leap days come last. */
function civil(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function pad(value: number, length: number): string {
  return String(value).padStart(length, "0");
}

/** RFC 3339 in UTC to epoch milliseconds; the way back from `isoTime`. What a schema let through has this form. */
export function epochMsOf(iso: string): number {
  const parts = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?Z$/.exec(iso)?.slice(1) ?? [];
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(0, 6)
    .map((part) => Number(part ?? 0));
  const fraction = Number((parts[6] ?? "0").slice(0, 3).padEnd(3, "0"));
  return daysOf(year, month, day) * dayMs + hour * 3_600_000 + minute * 60_000 + second * 1_000 + fraction;
}

/** The inverse of `civil`. */
function daysOf(year: number, month: number, day: number): number {
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
