import type { Change, ChangeRefusal, DeclaringStore } from "../ports/declaring-store.ts";
import type { Json } from "../ports/json.ts";
import type { OperationStart } from "../ports/operation-store.ts";
import type { AccountRecord, Principal } from "../ports/records.ts";
import type { Engine } from "./claim.ts";
import { type EngineError, RetryableError, TerminalError } from "./errors.ts";
import { describeSpecErrors, type Kind, type KindLink, parseSpec } from "./kind.ts";
import type { ChildChange, Children, Loop, Subject } from "./loop.ts";
import { startOf } from "./operation-start.ts";
import { startingPipeline } from "./pipeline.ts";

interface Parent {
  readonly loop: Pick<Loop<unknown, object>, "kind" | "declares">;
  readonly subject: Subject<unknown>;
  readonly account: AccountRecord | undefined;
}

/** How the loop of a parent declares its children: as people declare, in the parent's scope and account and in its name. */
export function childrenOf(engine: Pick<Engine, "declaring" | "ids" | "kinds">, parent: Parent): Children {
  return {
    change: async (changes) => {
      const { declaring } = engine;
      const kind = parent.loop.declares === undefined ? undefined : engine.kinds.get(parent.loop.declares);
      if (declaring === undefined || kind === undefined)
        throw new TerminalError(
          "INTERNAL",
          `${nameOf(parent)} declares resources of a kind that this process cannot declare`,
        );
      return await declareAll(engine, declaring, { ...parent, kind }, changes);
    },
  };
}

async function declareAll(
  engine: Pick<Engine, "ids">,
  declaring: Pick<DeclaringStore, "change">,
  parent: Parent & { readonly kind: Kind },
  changes: readonly ChildChange[],
): Promise<ReadonlyMap<string, string>> {
  const asked = changes.map((change) => changeOf(engine, parent, change));
  const { organizationId } = parent.subject;
  const answer = await declaring.change({ organizationId, changes: asked });
  if (!answer.made) throw refusedBy(parent, changes[answer.at], answer.refusal);
  const made = answer.done.flatMap((done, at): [string, string][] => {
    const name = changes[at]?.name;
    return name === undefined || !("resource" in done) ? [] : [[name, done.resource.uid]];
  });
  return new Map(made);
}

function nameOf({ loop, subject }: Parent): string {
  return `${loop.kind}/${subject.name}`;
}

function changeOf(engine: Pick<Engine, "ids">, parent: Parent & { readonly kind: Kind }, change: ChildChange): Change {
  const { kind, subject } = parent;
  const { scope, organizationId } = subject;
  const author: Principal = { name: nameOf(parent), type: "machine" };
  const common = { scope, kind: kind.kind, name: change.name };
  if (change.action === "delete") {
    const starts = startWith(engine, kind, change.spec, true, author);
    const how = { ifRevision: undefined, ifGeneration: change.generation, orphan: false, confirmedCount: undefined };
    return { action: "delete", ...common, ...how, author, starts };
  }
  const spec = parsedOf(parent, change);
  const references = [
    ...kind.links(spec).map((link) => referenceOf(parent.subject, link, true)),
    ...(kind.references?.(spec) ?? []).map((link) => referenceOf(parent.subject, link, false)),
  ];
  return {
    action: "declare",
    declare: {
      ...common,
      uid: engine.ids.next(),
      organizationId,
      spec: spec as Json,
      labels: {},
      author,
      ifRevision: change.action === "create" ? 0 : undefined,
      mode: undefined,
      protect: undefined,
      accounts: [requireOwnAccount(parent, change.name, spec)],
      links: references.filter(({ part }) => part),
    },
    references,
    starts: startWith(engine, kind, spec, false, author),
  };
}

function parsedOf(parent: Parent & { readonly kind: Kind }, change: Extract<ChildChange, { spec: unknown }>): unknown {
  const parsed = parseSpec(parent.kind, change.spec);
  if (parsed.ok) return parsed.spec;
  const words = describeSpecErrors({ kind: parent.kind.kind, name: change.name }, parsed.errors);
  throw new TerminalError("SPEC_INVALID", `${nameOf(parent)} cannot declare ${words}`);
}

/** A child lives where its parent does: what a parent may do at one account says nothing about another one. */
function requireOwnAccount(
  { kind, account, ...parent }: Parent & { readonly kind: Kind },
  name: string,
  spec: unknown,
) {
  const [named, ...more] = kind.accounts(spec);
  if (account !== undefined && named === account.name && more.length === 0) return account.id;
  const wrong = `its account is '${named ?? "none"}', and not '${account?.name ?? "none"}'`;
  throw new TerminalError(
    "SPEC_INVALID",
    `${nameOf({ ...parent, account })} cannot declare ${kind.kind}/${name}: ${wrong}`,
  );
}

function referenceOf({ scope, organizationId }: Subject<unknown>, link: KindLink, part: boolean) {
  const { kind, name, pointer = "/spec" } = link;
  const projectId = scope.split("/")[1]?.split(":").slice(0, 2).join(":") ?? "";
  const around = { organization: `organization/${organizationId}`, project: `project/${projectId}` };
  return { scope: link.scope === undefined ? scope : around[link.scope], kind, name, pointer, part };
}

function startWith(
  engine: Pick<Engine, "ids">,
  kind: Kind,
  spec: unknown,
  ends: boolean,
  author: Principal,
): OperationStart | undefined {
  const pipeline = startingPipeline(kind.pipelines, spec, ends);
  return pipeline === undefined ? undefined : startOf(engine.ids, pipeline, author);
}

/** Nothing was written. What may pass is tried again; what only a person can change waits for one. */
function refusedBy(parent: Parent, change: ChildChange | undefined, refusal: ChangeRefusal): EngineError {
  const what = `${nameOf(parent)} cannot ${change?.action ?? "change"} ${parent.loop.declares ?? ""}/${change?.name ?? ""}`;
  switch (refusal.result) {
    case "quota":
      return new TerminalError(
        "PROVIDER_REFUSED",
        `${what}: the organization has ${refusal.used} of ${refusal.most} ${refusal.kind} resources. Delete some, or ask an operator to raise the quota`,
      );
    case "references": {
      const missing = refusal.invalid.map(({ kind, name, because }) => `${kind}/${name} is ${because}`).join(", ");
      return new TerminalError("DEPENDENCY_NOT_READY", `${what}: ${missing}. Declare it, or correct the spec`);
    }
    case "in-use": {
      const users = refusal.users.map(({ kind, name }) => `${kind}/${name}`).join(", ");
      return new TerminalError("DEPENDENCY_NOT_READY", `${what}: it is used by ${users}. Take it out there first`);
    }
    case "conflict":
    case "being-deleted":
    case "not-found":
      if (change?.action === "create")
        return new TerminalError(
          "ALREADY_EXISTS",
          `${what}: there is one of that name that is not its own, or not any more`,
        );
      return new RetryableError("PRECONDITION_FAILED", `${what}: it changed since that was decided`, {
        ambiguous: false,
      });
    case "four-eyes":
    case "not-approved":
      return new TerminalError("PROVIDER_REFUSED", `${what}: another person has to allow that first`);
  }
}
