import type { JsonObject } from "../ports/json.ts";
import type { ApiContext } from "./context.ts";
import { Problem } from "./problem.ts";

/** The settings of an account as its provider wants them, whoever's account it is. */
export function checkedSettings(
  context: Pick<ApiContext, "accountSettings">,
  account: { readonly name: string; readonly provider: string; readonly settings: JsonObject },
): JsonObject {
  const schema = context.accountSettings.get(account.provider);
  if (schema === undefined) {
    const known = [...context.accountSettings.keys()].sort().join(", ");
    throw new Problem("PROVIDER_UNKNOWN", `There is no provider "${account.provider}". Installed: ${known}`, {
      errors: [{ pointer: "/provider", message: `must be one of: ${known}` }],
    });
  }
  const parsed = schema.safeParse(account.settings);
  if (parsed.success) return parsed.data as JsonObject;
  const errors = parsed.error.issues.map((issue) => ({
    pointer: `/settings${issue.path.map((part) => `/${String(part)}`).join("")}`,
    message: issue.message,
  }));
  throw new Problem(
    "FIELDS_INVALID",
    `The settings of account "${account.name}" are not those of a ${account.provider} account`,
    { errors },
  );
}
