import type { z } from "zod";
import type { Json, JsonObject } from "../ports/json.ts";
import type { Condition, DeclaredResource, SubjectStatus } from "../ports/records.ts";
import type { Loop } from "./loop.ts";
import type { ScopeNames } from "./scope-names.ts";
import { specProblems } from "./spec-problems.ts";
import type { Pipeline } from "./pipeline.ts";

export type ScopeType = "platform" | "organization" | "project" | "workspace";

/** A type of thing people declare. What shared code wants to know about a kind, the kind declares here. */
export interface Kind<Spec = unknown> {
  readonly kind: string;
  /** Path segment of its routes: lower case, plural. */
  readonly plural: string;
  readonly schema: z.ZodType<Spec>;
  readonly permission: string;
  readonly scopes: readonly ScopeType[];
  /** What exists outside already (a zone, an account) has no default mode: it must be named when it is declared. */
  readonly modeRequired: boolean;
  /** Names of the accounts a resource lives at; one subject each. Empty: one subject without an account. */
  accounts(spec: Spec): readonly string[];
  /** Where the organization has no account of this name, one of this provider is claimed for it from the operator's pool. */
  pooled?(spec: Spec): { readonly account: string; readonly provider: string } | undefined;
  /** Resources that are computed from this one: it is a part of them, and they must exist. */
  links(spec: Spec): readonly KindLink[];
  /** Other resources that this one needs: they must exist, and cannot be deleted while it is there. */
  references?(spec: Spec): readonly KindReference[];
  /** What others may use of a resource's status: each field, and what stands in it. Its loop finds the values. */
  readonly publishes?: Readonly<Record<string, PublishedType>>;
  /** The spec with what it leaves to a resource that it names, as that is declared now. Asked when it is declared, and kept with it. */
  completed?(spec: Spec, named: NamedResources): Promise<Spec>;
  /** What the schema alone cannot see: whether it fits what it is a part of. Asked when it is declared; the loop sees to the rest. */
  fits?(spec: Spec, around: Surroundings): readonly FieldProblem[] | Promise<readonly FieldProblem[]>;
  /** From an older stored shape to the current one, before parsing. */
  upgrade?(stored: unknown): unknown;
  /** How a thing that was seen outside is declared, for those who take over what exists. */
  declarationOf?(subject: { readonly name: string; readonly spec: Spec }, item: object): SeenDeclaration;
  /** What its stored spec would have to say for one of its items to be wanted as it was seen; `fields` are those that differ. */
  asSeen?(
    spec: JsonObject,
    seen: { readonly key: string; readonly item: object },
    fields: readonly string[],
  ): SpecAsSeen;
  /** Of what the loop of something that it is a part of reports: what speaks of this one. */
  reportOf?(
    spec: Spec,
    whole: { readonly spec: unknown; readonly report: Json | undefined; readonly stale: SubjectStatus["stale"] },
  ): { readonly report: Json | undefined; readonly conditions: readonly Condition[] } | undefined;
  readonly loop?: Loop<Spec, object>;
  /** Long work on resources of this kind: every version that operations may still be finishing on. */
  readonly pipelines?: readonly Pipeline[];
  /** Why a kind has no loop; shown in the public registry. */
  readonly withoutLoop?: string;
}

export type PublishedType = "ipv4" | "ipv6";

export interface KindLink {
  readonly kind: string;
  readonly name: string;
  /** Where the spec names it, such as `/spec/zone`; the whole spec unless said otherwise. */
  readonly pointer?: string;
  /** The scope it lives in: that of the resource itself, or the nearest one of this type around it. */
  readonly scope?: "organization" | "project" | undefined;
}

/** One of the resources that a kind `references`, as it is declared now, and what its loop last reported; undefined where it is not there. */
export type NamedResources = (
  kind: string,
  name: string,
) => Promise<{ readonly spec: unknown; readonly report: Json | undefined } | undefined>;

/** What a resource is declared among. */
export interface Surroundings {
  readonly named?: NamedResources;
  /** Its own scope, as in `DeclaredResource`. */
  readonly scope: string;
  /** The resource of one of its links as it is declared now, with what the provider of its account can express; undefined where it is not there yet. */
  linked(
    kind: string,
    name: string,
  ): { readonly spec: unknown; readonly scope: string; readonly capabilities: unknown } | undefined;
  /** An account of the organization, with what its provider can express; undefined where there is none of that name. */
  account(name: string): Promise<
    | {
        readonly provider: string;
        readonly capabilities: unknown;
        /** What it is known by, once it is claimed. */
        readonly fingerprint?: string | undefined;
      }
    | undefined
  >;
  /** What stands under its own name; undefined where nothing does, or it is being deleted. */
  standing?(): Promise<unknown>;
  /**
   * What the loops of the organization's resources of a kind last reported of an account, with the store's time: only what a look
   * has confirmed lately, and behind which no other look is due.
   */
  reported?(kind: string, account: string): Promise<{ readonly nowMs: number; readonly reports: readonly Json[] }>;
  /** Whether the organization has this project, or this workspace of it. */
  hasScope(names: ScopeNames): Promise<boolean>;
  /** What resources of a kind publish; undefined where there is no such kind, or it publishes nothing. */
  publishes(kind: string): Readonly<Record<string, PublishedType>> | undefined;
  /** How many resources of a kind the organization may have, where that is known; undefined where nobody limits them. */
  quota?(kind: string): Promise<number | undefined>;
}

export interface FieldProblem {
  readonly pointer: string;
  readonly message: string;
}

export type KindReference = KindLink;

/** A resource that declares a thing just as it is, or why there can be none. */
export type SeenDeclaration =
  | { readonly ok: true; readonly kind: string; readonly name: string; readonly spec: JsonObject }
  | { readonly ok: false; readonly message: string };

/** Fields of a spec as they would have to be, or why no spec says what was seen. */
export type SpecAsSeen =
  | { readonly ok: true; readonly spec: JsonObject }
  | { readonly ok: false; readonly message: string };

export type KindRegistry = ReadonlyMap<string, Kind>;

export function defineKind<Spec>(kind: Kind<Spec>): Kind<Spec> {
  return Object.freeze(kind);
}

export type ParsedSpec<Spec> =
  | { readonly ok: true; readonly spec: Spec }
  | { readonly ok: false; readonly errors: readonly FieldProblem[] };

/** Upgrades and parses a stored or incoming spec; all field errors at once. */
export function parseSpec<Spec>(kind: Kind<Spec>, stored: unknown): ParsedSpec<Spec> {
  const parsed = kind.schema.safeParse(kind.upgrade === undefined ? stored : kind.upgrade(stored));
  if (parsed.success) return { ok: true, spec: parsed.data };
  return { ok: false, errors: specProblems(kind.kind, parsed.error) };
}

export function describeSpecErrors(
  resource: Pick<DeclaredResource, "kind" | "name">,
  errors: readonly FieldProblem[],
): string {
  return `${resource.kind}/${resource.name}: ${errors.map((error) => `${error.pointer}: ${error.message}`).join("; ")}`;
}
