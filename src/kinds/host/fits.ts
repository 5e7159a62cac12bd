import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import type { ComputeCapabilities } from "../../ports/compute.ts";
import { problemsAt, typeProblems } from "../cloud/capabilities.ts";
import { familyProblems } from "../cloud/pooled.ts";
import { profileProblems } from "../compute-profile/naming-one.ts";
import type { HostSpec } from "./schema.ts";

/** Whether the account's provider can have such a server, and whether the key that signs in to it is one. */
export async function hostFits(spec: HostSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  const wrong = await familyProblems(spec, around);
  if (wrong.length > 0) return wrong;
  return [
    ...(await profileProblems(spec, around.named, "/spec")),
    ...(await problemsAt(around, spec.account, undefined, (can) => [
      // One that is there already may be of a shape that nobody can order: without a disk, say.
      ...(spec.adopt ? [] : typeProblems(can, spec.type, "/spec/type")),
      ...serverProblems(spec, can),
    ])),
    ...(await keyProblems(spec, around)),
  ];
}

/** A server that could never be as declared is not made first. */
function serverProblems({ reverseDns, protect, volumes }: HostSpec, can: ComputeCapabilities): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (field: string, message: string) => problems.push({ pointer: `/spec/${field}`, message });
  if (reverseDns !== undefined && !can.reverseDns) refuse("reverseDns", "cannot be set there: take it out");
  if (protect && !can.protection) refuse("protect", "nothing can be protected against deletion there: take it out");
  if (volumes.length > 0 && !can.volumes) refuse("volumes", "there are none there: take them out");
  return problems;
}

async function keyProblems({ bootstrap }: HostSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  const name = bootstrap?.ssh.account;
  const account = name === undefined ? undefined : await around.account(name);
  if (name === undefined || account?.provider === "ssh") return [];
  const what = account === undefined ? "names no account" : `names an account of provider ${account.provider}`;
  const message = `${what}: the private key is the credential of an account of provider ssh (setpoint account add ${name} --provider ssh)`;
  return [{ pointer: "/spec/bootstrap/ssh/account", message }];
}
