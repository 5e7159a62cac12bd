import type { FieldProblem, Kind, Surroundings } from "../../kernel/kind.ts";

interface Pooled {
  readonly account: string;
  /** The provider of whom an account is claimed from the operator's pool, where the organization has none of that name. */
  readonly family?: string | undefined;
}

export function pooledAt({ account, family }: Pooled): ReturnType<NonNullable<Kind["pooled"]>> {
  return family === undefined ? undefined : { account, provider: family };
}

/** An account of that name that is there already is used as it is, so it must be of that family. */
export async function familyProblems(
  { account, family }: Pooled,
  around: Surroundings,
): Promise<readonly FieldProblem[]> {
  const found = family === undefined ? undefined : await around.account(account);
  if (found === undefined || found.provider === family) return [];
  const message = `is ${family}, and the account "${account}" is one of provider ${found.provider}: name another account, or leave it out`;
  return [{ pointer: "/spec/family", message }];
}
