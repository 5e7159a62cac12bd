import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import type { ComputeCapabilities } from "../../ports/compute.ts";
import { problemsAt, typeProblems } from "../cloud/capabilities.ts";
import { familyProblems } from "../cloud/pooled.ts";
import { offeredProblems, type WantedServers } from "../cloud/offered.ts";
import { pointersBelow, profileProblems, typeOf, typePointer } from "../compute-profile/naming-one.ts";
import { type HostSpec, hostSchema } from "./schema.ts";

/** Whether the account's provider can have such a server, and whether the key that signs in to it is one. */
export async function hostFits(spec: HostSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  const wrong = await familyProblems(spec, around);
  if (wrong.length > 0) return wrong;
  const problems = [
    ...(await profileProblems(spec, around.named, "/spec")),
    ...(await problemsAt(around, spec.account, undefined, (can) => [
      // One that is there already may be of a shape that nobody can order: without a disk, say.
      ...(spec.adopt ? [] : typeProblems(can, spec.type, "/spec/type")),
      ...serverProblems(spec, can),
    ])),
    ...(await keyProblems(spec, around)),
  ];
  // What is adopted is there already, whatever can still be ordered.
  if (problems.length > 0 || spec.adopt) return problems;
  return await offeredProblems(around, spec.account, wantedOf(spec), {
    at: { ...pointersBelow("/spec", spec), count: typePointer("/spec", spec) },
    standing: (stands) => {
      const before = hostSchema.safeParse(stands);
      return before.success ? wantedOf(before.data) : undefined;
    },
  });
}

function wantedOf(spec: HostSpec): WantedServers {
  const { image, location } = spec;
  return { type: typeOf(spec), image, location, count: 1 };
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
