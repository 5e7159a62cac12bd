import { defineKind } from "../../kernel/kind.ts";
import { declarationOfThing } from "./declaration-of.ts";
import { type AccountItem, computeProviderLoop } from "./loop.ts";
import { providerOnboard } from "./pipelines.ts";
import { type ComputeProviderSpec, computeProviderSchema } from "./schema.ts";

export const computeProviderKind = defineKind<ComputeProviderSpec>({
  kind: "ComputeProvider",
  plural: "computeproviders",
  schema: computeProviderSchema,
  permission: "organization.compute_provider",
  scopes: ["organization"],
  modeRequired: true,
  accounts: (spec) => [spec.account],
  links: () => [],
  fits: async ({ account, family }, around) => {
    const found = await around.account(account);
    if (found === undefined || found.provider === family) return [];
    const message = `is ${family}, and account "${account}" is one of provider ${found.provider}: write that, or name another account`;
    return [{ pointer: "/spec/family", message }];
  },
  declarationOf: ({ spec }, item) => declarationOfThing(spec.account, item as AccountItem),
  loop: computeProviderLoop,
  pipelines: [providerOnboard],
});
