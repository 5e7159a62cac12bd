import type { z } from "zod";
import type { IgnoreRuleFrom } from "../kernel/ignored.ts";
import type { ignoreRuleSchema } from "./schemas/governance.ts";

/** A rule by which drift is left alone, and the scope that has it. */
export function ignoreDocument(rule: IgnoreRuleFrom): z.output<typeof ignoreRuleSchema> & { from: string } {
  const { kind, name, item, field, reason, until, from } = rule;
  return {
    kind,
    ...(name === undefined ? {} : { name }),
    ...(item === undefined ? {} : { item }),
    field,
    reason,
    ...(until === undefined ? {} : { until }),
    from,
  };
}
