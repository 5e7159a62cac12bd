import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import type { ComputeCapabilities } from "../../ports/compute.ts";

/** What a provider said of itself, if it is a cloud. */
function asComputeCapabilities(value: unknown): ComputeCapabilities | undefined {
  return typeof value === "object" && value !== null && "createsServers" in value
    ? (value as unknown as ComputeCapabilities)
    : undefined;
}

/** What the provider of an account says of itself; undefined where there is no such account, or it is no cloud. */
export async function capabilitiesAt(around: Surroundings, account: string): Promise<ComputeCapabilities | undefined> {
  return asComputeCapabilities((await around.account(account))?.capabilities);
}

/** What the provider of an account cannot express, with its name. An account that is not there is refused by whoever resolves it. */
export async function problemsAt(
  around: Surroundings,
  account: string,
  needed:
    | { readonly has: "firewalls" | "networks" | "loadBalancers" | "serverMetrics"; readonly words: string }
    | undefined,
  problems: (can: ComputeCapabilities) => readonly FieldProblem[],
): Promise<readonly FieldProblem[]> {
  const found = await around.account(account);
  // What says nothing of itself is asked by the loop.
  if (found?.capabilities === undefined) return [];
  const can = asComputeCapabilities(found.capabilities);
  const whose = `the provider ${found.provider} of account "${account}"`;
  if (can === undefined) return [{ pointer: "/spec/account", message: `${whose} is no cloud: name an account of one` }];
  if (needed !== undefined && !can[needed.has])
    return [{ pointer: "/spec/account", message: `${whose} has no ${needed.words}` }];
  return problems(can).map(({ pointer, message }) => ({ pointer, message: `${message} (${whose})` }));
}

/** Why there can be no server type of that name. Where types are listed, whoever makes the server looks. */
export function typeProblems(
  { serverTypeNames: names }: ComputeCapabilities,
  type: string | undefined,
  pointer: string,
): readonly FieldProblem[] {
  if (names === undefined || type === undefined || names.pattern.test(type)) return [];
  return [{ pointer, message: `there is no type "${type}": ${names.words}` }];
}
