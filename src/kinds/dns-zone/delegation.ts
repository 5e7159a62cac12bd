import { type ScopeNames, scopeNames } from "../../kernel/scope-names.ts";
import { type Parsed, parseAbsoluteName } from "../dns-record/domain-name.ts";

/** A pattern of names in a zone, and the project or workspace that alone declares records there. */
export interface Delegation extends ScopeNames {
  /** Relative to the zone, such as `*.web`: a `*` stands for one label. */
  readonly pattern: string;
}

/** The labels of a pattern, in the one form of names. */
export function parsePattern(text: string): Parsed<readonly string[]> {
  const labels = text.toLowerCase().split(".");
  if (text === "@" || text === "") return refuse("the zone itself cannot be delegated: name labels inside it");
  if (text.endsWith(".")) return refuse(`"${text}" must be written relative to the zone, without a dot at its end`);
  if (labels.some((label) => label.includes("**"))) return refuse(`"${text}" must not be recursive: "*" is one label`);
  if (labels.some((label) => label !== "*" && label.includes("*")))
    return refuse(`"${text}": a "*" stands for one whole label, not for a part of one`);
  if (labels.filter((label) => label === "*").length > 1) return refuse(`"${text}" has more than one "*"`);
  const named = labels.filter((label) => label !== "*");
  if (named.length === 0) return { ok: true, value: labels };
  const parsed = parseAbsoluteName(named.join("."));
  if (!parsed.ok) return parsed;
  const folded = parsed.value.slice(0, -1).split(".");
  return { ok: true, value: labels.map((label) => (label === "*" ? label : (folded.shift() ?? label))) };
}

export function patternsOverlap(left: readonly string[], right: readonly string[]): boolean {
  return (
    left.length === right.length &&
    left.every((label, index) => label === "*" || right[index] === "*" || label === right[index])
  );
}

/** Whether a name (its labels in front of the zone) lies in a pattern. */
export function patternCovers(pattern: readonly string[], name: readonly string[]): boolean {
  return pattern.length === name.length && pattern.every((label, index) => label === "*" || label === name[index]);
}

export function ownerWords({ project, workspace }: ScopeNames): string {
  const names = [
    project === undefined ? undefined : `project "${project}"`,
    workspace === undefined ? undefined : `workspace "${workspace}"`,
  ];
  return names.filter((name) => name !== undefined).join(", ") || "the organization";
}

/**
 * Why a scope may not declare records at a name of the zone; undefined where it may. What is delegated is the delegate's alone,
 * for its whole scope and what is below; all the rest belongs to the scope of the zone itself.
 */
export function delegationProblem(
  zone: { readonly zone: string; readonly scope: string; readonly delegations: readonly Delegation[] },
  name: string,
  scope: string,
): string | undefined {
  const own = scope === zone.scope;
  if (own && zone.delegations.length === 0) return undefined;
  const labels = name === zone.zone ? [] : name.slice(0, -zone.zone.length - 1).split(".");
  const found = zone.delegations.find((delegation) => patternCovers(labelsOf(delegation), labels));
  const asker = scopeNames(scope);
  if (found === undefined)
    return own ? undefined : `${name} lies in no pattern that the zone delegates to ${ownerWords(asker)}`;
  const inProject = { ...scopeNames(zone.scope), ...found };
  const isDelegate =
    !own &&
    inProject.project === asker.project &&
    (inProject.workspace === undefined || inProject.workspace === asker.workspace);
  return isDelegate
    ? undefined
    : `${name} lies in the pattern "${found.pattern}", delegated to ${ownerWords(inProject)}`;
}

/** A zone of tens of thousands of records asks for the same patterns each time. */
const known = new WeakMap<Delegation, readonly string[]>();

function labelsOf(delegation: Delegation): readonly string[] {
  const kept = known.get(delegation);
  if (kept !== undefined) return kept;
  const parsed = parsePattern(delegation.pattern);
  const labels = parsed.ok ? parsed.value : ["."];
  known.set(delegation, labels);
  return labels;
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
