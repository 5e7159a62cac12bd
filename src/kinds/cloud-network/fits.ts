import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import type { ComputeCapabilities } from "../../ports/compute.ts";
import { problemsAt } from "../cloud/capabilities.ts";
import type { CloudNetworkSpec } from "./schema.ts";

/** Whether the account's provider can have such a network. */
export function networkFits(spec: CloudNetworkSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  return problemsAt(around, spec.account, { has: "networks", words: "private networks" }, (can) =>
    networkProblems(spec, can),
  );
}

/** What the provider cannot express, field by field. */
export function networkProblems(spec: CloudNetworkSpec, can: ComputeCapabilities): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (field: string, message: string) => problems.push({ pointer: `/spec/${field}`, message });
  if (spec.protect && !can.protection) refuse("protect", "nothing can be protected against deletion there");
  if (can.networkRanges) {
    if (spec.range === undefined) refuse("range", "is needed: say which addresses the network has");
    if (spec.location !== undefined) refuse("location", "cannot be chosen: take it out");
    return problems;
  }
  if (spec.location === undefined) refuse("location", "is needed: a network is in one place there");
  if (spec.range !== undefined) refuse("range", "cannot be chosen: the provider gives the addresses. Take it out");
  if (Object.keys(spec.labels).length > 0) refuse("labels", "networks have no labels there");
  return problems;
}
