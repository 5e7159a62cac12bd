import { z } from "zod";
import type { FieldProblem, NamedResources } from "../../kernel/kind.ts";
import { filledIn, oneWay } from "../naming/form-hints.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";
import { computeProfileSchema } from "./schema.ts";

const typeName = z.string().min(1).max(255);

/** How a server type is said: by the provider's own name, or by an entry of the catalogue. */
export const typeFields = {
  type: typeName
    .optional()
    .describe("The provider's name of the server type, such as cx22; or else a profile.")
    .meta(oneWay("Server type", "Provider's name")),
  profile: resourceNameSchema
    .optional()
    .describe("The ComputeProfile of the organization whose type it is; or else the type itself.")
    .meta(oneWay("Server type", "ComputeProfile")),
  profileType: typeName
    .optional()
    .describe("Filled in when it is declared: the type that the profile has then. What is said here does not count.")
    .meta(filledIn),
};

export interface TypeSaid {
  readonly type?: string | undefined;
  readonly profile?: string | undefined;
  readonly profileType?: string | undefined;
}

/** The provider's name of the type; undefined where a profile was named and nobody has looked it up. */
export function typeOf({ type, profile, profileType }: TypeSaid): string | undefined {
  return type ?? (profile === undefined ? undefined : profileType);
}

/** Exactly one of the two. */
export function typeIssue({
  type,
  profile,
}: TypeSaid): { readonly path: string[]; readonly message: string } | undefined {
  if ((type === undefined) !== (profile === undefined)) return undefined;
  return type === undefined
    ? { path: ["type"], message: "is needed, or a profile in its place" }
    : { path: ["profile"], message: "cannot be named beside a type: leave one of the two out" };
}

/** Where the type is said. */
export function typePointer(pointer: string, { profile }: TypeSaid): string {
  return `${pointer}/${profile === undefined ? "type" : "profile"}`;
}

export function pointersBelow(pointer: string, said: TypeSaid) {
  return { type: typePointer(pointer, said), image: `${pointer}/image`, location: `${pointer}/location` };
}

export function profileReference({ profile }: TypeSaid, pointer: string) {
  return profile === undefined
    ? []
    : [{ kind: "ComputeProfile", name: profile, pointer: `${pointer}/profile`, scope: "organization" as const }];
}

/** With the type that the profile has now. */
export async function withProfileType<Said extends TypeSaid>(said: Said, named: NamedResources): Promise<Said> {
  if (said.profile === undefined && said.profileType === undefined) return said;
  const found = said.profile === undefined ? undefined : await named("ComputeProfile", said.profile);
  const profile = computeProfileSchema.safeParse(found?.spec);
  return { ...said, profileType: profile.success ? profile.data.type : undefined };
}

const reportShape = z.object({ offers: z.array(z.object({ location: z.string() })) });

/** Why servers of this profile cannot be had there, as far as the catalogue knows. */
export async function profileProblems(
  { profile: name, account, location }: TypeSaid & { readonly account: string; readonly location: string },
  named: NamedResources | undefined,
  pointer: string,
): Promise<readonly FieldProblem[]> {
  const found = name === undefined ? undefined : await named?.("ComputeProfile", name);
  const profile = computeProfileSchema.safeParse(found?.spec);
  if (!profile.success) return [];
  const { type, locations } = profile.data;
  if (profile.data.account !== account) {
    const message = `is of the account '${profile.data.account}', and this is at '${account}': name a profile of that account`;
    return [{ pointer: `${pointer}/profile`, message }];
  }
  const report = reportShape.safeParse(found?.report);
  const offered = report.success ? report.data.offers.map((offer) => offer.location) : locations;
  if (offered.includes(location) || (!report.success && locations.length === 0)) return [];
  const message = `the profile ${name ?? ""} (${type}) is not offered in ${location}. It is in: ${offered.join(", ") || "no location"}`;
  return [{ pointer: `${pointer}/location`, message }];
}
