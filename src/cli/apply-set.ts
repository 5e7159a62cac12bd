import { type DryRunDocument, dryRunSchema } from "../control-api/schemas/dry-run.ts";
import type { ApiClient } from "./api-client.ts";
import { CliError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { KnownKind } from "./kind-names.ts";
import type { LoadedManifest } from "./manifests.ts";
import { scopePath, type ScopeOptions } from "./scope-path.ts";
import type { CliWorld } from "./world.ts";

/** One manifest with where it goes. */
export interface Entry {
  readonly loaded: LoadedManifest;
  readonly kind: KnownKind;
  /** The list it belongs to. */
  readonly base: string;
  readonly path: string;
}

/** In the order in which they are applied: nothing may refer to what is not declared. */
export function applyOrder(
  world: CliWorld,
  kinds: readonly KnownKind[],
  manifests: readonly LoadedManifest[],
  options: ScopeOptions,
): readonly Entry[] {
  return manifests
    .map((loaded): Entry => {
      const kind = kindOf(kinds, loaded);
      const base = `${scopePath(world, { ...options, ...loaded.scope })}/${kind.plural}`;
      return { loaded, kind, base, path: `${base}/${encodeURIComponent(loaded.manifest.metadata.name)}` };
    })
    .toSorted((left, right) => rank(kinds, left.kind) - rank(kinds, right.kind));
}

/** What others are part of comes before them. */
export function rank(kinds: readonly KnownKind[], { kind }: KnownKind): number {
  return kinds.some((other) => other.kind !== kind && other.inputs.includes(kind)) ? 1 : 0;
}

function kindOf(kinds: readonly KnownKind[], { manifest, where }: LoadedManifest): KnownKind {
  const kind = kinds.find((known) => known.kind === manifest.kind);
  if (kind !== undefined) return kind;
  const near = kinds.find((known) => known.kind.toLowerCase() === manifest.kind.toLowerCase());
  const hint =
    near === undefined ? `Kinds: ${kinds.map((known) => known.kind).join(", ")}` : `Did you mean ${near.kind}?`;
  throw new CliError(
    `nothing was applied:\n  ${where("/kind")}: there is no kind "${manifest.kind}". ${hint}`,
    exitCodes.usage,
  );
}

/** A manifest with what it would lead to. */
export interface Planned {
  readonly entry: Entry;
  readonly plan: DryRunDocument;
  /** What of the same set must be declared before it. */
  readonly after: readonly Entry[];
}

/**
 * What each of them would lead to, in the order in which they can be applied. Every mistake of every document is found before the
 * first one is applied.
 */
export async function planSet(
  client: ApiClient,
  entries: readonly Entry[],
  query: URLSearchParams,
): Promise<readonly Planned[]> {
  const plans: Planned[] = [];
  const problems: CliError[] = [];
  const text = new URLSearchParams([...query, ["dryRun", "true"]]).toString();
  for (const entry of entries) {
    try {
      const answer = await sendManifest(client, `${entry.path}?${text}`, entry.loaded);
      plans.push({ entry, plan: dryRunSchema.parse(answer.body), after: [] });
    } catch (thrown) {
      if (!(thrown instanceof CliError) || thrown.problem === undefined) throw thrown;
      const after = declaredBefore(entry, entries, thrown.problem);
      if (after.length === 0) problems.push(thrown);
      else plans.push({ entry, plan: planAfter(entry, after), after });
    }
  }
  const [first] = problems;
  if (first === undefined) return inOrder(plans);
  throw new CliError(`nothing was applied:\n${problems.map(({ message }) => message).join("\n")}`, first.exitCode, {
    cause: first,
  });
}

/** Each after all that it waits for; those that wait for each other are left to the server to refuse. */
function inOrder(plans: readonly Planned[]): readonly Planned[] {
  const ordered = new Set<Planned>();
  const place = (planned: Planned, within: readonly Entry[]): void => {
    for (const other of plans)
      if (planned.after.includes(other.entry) && !within.includes(other.entry))
        place(other, [...within, planned.entry]);
    ordered.add(planned);
  };
  for (const planned of plans) place(planned, []);
  return [...ordered];
}

/** What an entry waits for, if all that it lacks is in the same set; else nothing. */
function declaredBefore(
  entry: Entry,
  entries: readonly Entry[],
  problem: NonNullable<CliError["problem"]>,
): readonly Entry[] {
  if (problem.code !== "REFERENCE_INVALID") return [];
  const found = (problem.errors ?? []).map(({ pointer }) => {
    const name = valueAt(entry.loaded.manifest, pointer);
    return entries.filter((other) => other !== entry && other.loaded.manifest.metadata.name === name);
  });
  return found.every((others) => others.length > 0) ? [...new Set(found.flat())] : [];
}

/** It refers to what the same set declares, so that nothing more can be said before that is there. */
function planAfter({ kind, loaded }: Entry, after: readonly Entry[]): DryRunDocument {
  const { name } = loaded.manifest.metadata;
  const first = after.map((other) => `${other.kind.kind}/${other.loaded.manifest.metadata.name}`).join(", ");
  return {
    dryRun: true,
    changes: [{ action: "create", kind: kind.kind, name, revision: 0, fields: [] }],
    subjects: [],
    notes: [`It needs ${first}, which the same files declare: its plan is known once that is there.`],
  };
}

function valueAt(document: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>(
      (value, part) => (typeof value === "object" && value !== null ? Reflect.get(value, part) : undefined),
      document,
    );
}

/** One manifest, applied or only planned. What the server refuses is named by its line. */
export async function sendManifest(client: ApiClient, path: string, { manifest, where }: LoadedManifest) {
  try {
    const headers = { "content-type": "application/apply+json" };
    return await client.send("PATCH", path, { body: manifest, headers });
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.problem === undefined) throw thrown;
    const fields = (thrown.problem.errors ?? [])
      .map(({ pointer, message }) => `\n  ${where(pointer)}: ${pointer}: ${message}`)
      .join("");
    const about = `${manifest.kind}/${manifest.metadata.name}`;
    const hint = thrown.problem.code === "OWNER_CONFLICT" ? "\n  here that is: setpoint apply --force" : "";
    throw new CliError(
      `${fields === "" ? `${where("")}: ` : ""}${about}: ${thrown.problem.detail}${fields}${hint}`,
      thrown.exitCode,
      { problem: thrown.problem },
    );
  }
}
