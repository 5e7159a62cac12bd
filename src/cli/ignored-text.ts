import type { LimitsDocument } from "../control-api/schemas/governance.ts";
import { safeText } from "./output.ts";

/** A rule by which drift is left alone, as a person reads it. */
export function ignoredText(rule: NonNullable<LimitsDocument["ignore"]>[number]): string {
  const { kind, name = "every", item, field, from, reason, until } = rule;
  const of = item === undefined ? "" : `${safeText(item)} of `;
  return `ignored: ${field} of ${of}${kind}/${name}, by a rule of ${from}${until === undefined ? "" : ` until ${until}`}: ${safeText(reason)}`;
}
