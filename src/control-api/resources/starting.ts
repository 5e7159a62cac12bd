import { type Kind, parseSpec } from "../../kernel/kind.ts";
import { startOf } from "../../kernel/operation-start.ts";
import { newestPipeline, type Pipeline, startingPipeline } from "../../kernel/pipeline.ts";
import type { Json } from "../../ports/json.ts";
import type { OperationStart, StartAnswer } from "../../ports/operation-store.ts";
import type { ResourceView } from "../../ports/read-store.ts";
import type { Principal } from "../../ports/records.ts";
import type { Caller } from "../access/caller.ts";
import type { ApiContext } from "../context.ts";
import { operationDocumentOf, operationPath } from "../operation-document.ts";
import { Problem } from "../problem.ts";
import type { RouteAnswer } from "../route.ts";

/** The operation that goes with declaring a resource, or with deleting it, if its kind has one for this spec. */
export function operationWith(
  context: ApiContext,
  kind: Kind,
  { spec, ends, author }: { readonly spec: Json; readonly ends: boolean; readonly author: Principal },
): OperationStart | undefined {
  const parsed = parseSpec(kind, spec);
  if (!parsed.ok) return undefined;
  const pipeline = startingPipeline(kind.pipelines, parsed.spec, ends);
  return pipeline === undefined ? undefined : startOf(context.ids, pipeline, author);
}

/** Starts a pipeline on a resource as it stands. One that runs already is the answer. */
export async function startPipeline(
  context: ApiContext,
  kind: Kind,
  about: {
    readonly organization: string;
    readonly organizationId: string;
    readonly view: ResourceView;
    readonly caller: Caller;
  },
  asked: Asked,
): Promise<RouteAnswer> {
  const { organization, organizationId, view, caller } = about;
  const pipeline = requirePipeline(kind, asked);
  requireStartable(kind, pipeline, view);
  requireAskedFor(kind, pipeline, view);
  const start = startOf(context.ids, pipeline, caller.principal, inputOf(pipeline, asked));
  const resourceUid = view.resource.uid;
  const answer = await context.operationIntents.startOperation({ ...start, organizationId, resourceUid });
  if (!("operation" in answer)) throw notStarted(kind, view, answer.result, asked.pipeline);
  const { operation } = answer;
  const found = await context.operations.findOperation({ organizationId, operationId: operation.id });
  const shown = found ?? { ...operation, scope: view.resource.scope, holdSinceMs: undefined };
  return {
    status: 202,
    body: await operationDocumentOf(context, shown),
    headers: { location: operationPath(organization, operation.id) },
  };
}

interface Asked {
  readonly pipeline: string;
  readonly version?: number | undefined;
  readonly input?: Json | undefined;
}

/** The pipeline that was asked for, in the newest version unless another one was named. */
function requirePipeline(kind: Kind, { pipeline: name, version }: Asked): Pipeline {
  const known = (kind.pipelines ?? []).filter((pipeline) => pipeline.name === name);
  const found = version === undefined ? newestPipeline(known, name) : known.find((one) => one.version === version);
  if (found !== undefined) return found;
  if (known.length === 0) {
    const names = [...new Set((kind.pipelines ?? []).map((pipeline) => pipeline.name))].join(", ");
    throw new Problem("FIELDS_INVALID", `${kind.kind} has no pipeline "${name}". It has: ${names}`, {
      errors: [{ pointer: "/pipeline", message: `must be one of: ${names}` }],
    });
  }
  const versions = known
    .map((pipeline) => pipeline.version)
    .sort((left, right) => left - right)
    .join(", ");
  throw new Problem("FIELDS_INVALID", `Version ${version} of ${name} is not supported here. It has: ${versions}`, {
    errors: [{ pointer: "/version", message: `must be one of: ${versions}` }],
  });
}

/** What destroys something on a person's approval starts by that approval alone. */
function requireStartable(kind: Kind, { name, replaces }: Pipeline, { resource }: ResourceView): void {
  if (replaces !== true) return;
  const message = `${name} is started by approving the held change of ${kind.kind}/${resource.name}, and by nothing else`;
  throw new Problem("OPERATION_STATE", `${message}. See: setpoint held list`);
}

/** What a spec starts by itself is for such specs alone. */
function requireAskedFor(kind: Kind, pipeline: Pipeline, { resource }: ResourceView): void {
  const parsed = parseSpec(kind, resource.spec);
  if (parsed.ok && pipeline.startsWith?.(parsed.spec) !== false) return;
  const message = `The spec of ${kind.kind}/${resource.name} does not ask for ${pipeline.name}: ${pipeline.summary}`;
  throw new Problem("OPERATION_STATE", `${message}. See: setpoint explain ${kind.kind.toLowerCase()}`);
}

function inputOf(pipeline: Pipeline, { input = {} }: Asked): Json {
  const parsed = pipeline.input.safeParse(input);
  if (parsed.success) return input;
  const errors = parsed.error.issues.map(({ path, message }) => ({
    pointer: ["/input", ...path.map(String)].join("/"),
    message,
  }));
  const words = errors.map(({ pointer, message }) => `${pointer}: ${message}`).join("; ");
  throw new Problem("FIELDS_INVALID", `The input of ${pipeline.name} is not valid: ${words}`, { errors });
}

function notStarted(
  kind: Kind,
  { resource }: ResourceView,
  why: Exclude<StartAnswer["result"], "started" | "running">,
  pipeline: string,
): Problem {
  const what = `${kind.kind}/${resource.name}`;
  switch (why) {
    case "leaving":
      return new Problem("BEING_DELETED", `${what} is being deleted: ${pipeline} is not for what goes`);
    case "not-leaving":
      return new Problem("OPERATION_STATE", `${pipeline} ends a resource: delete ${what}, which starts it`);
    case "several-accounts":
      return new Problem("OPERATION_STATE", `${what} lives at several accounts; ${pipeline} works at one`);
    case "held-by-another":
      return new Problem("OPERATION_STATE", `${what} is held by somebody else: see its conditions`);
    case "not-found":
      return new Problem("NOT_FOUND", `There is no ${what} any more`);
  }
}
