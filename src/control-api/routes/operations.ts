import { z } from "zod";
import { oldHoldMs } from "../../kernel/steering.ts";
import type { OperationRecord, SteerCommand } from "../../ports/operation-store.ts";
import type { ApiContext } from "../context.ts";
import { operationUnknown, readableOperations, requireMaySteer, requireOperation } from "../operation-access.ts";
import {
  isWait,
  operationDocumentOf,
  operationDocuments,
  operationPath,
  pipelineOf,
  stepDocument,
} from "../operation-document.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route, type RouteCall } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import {
  operationListQuerySchema,
  operationListSchema,
  operationQuerySchema,
  operationSchema,
  steerBodySchema,
  steerStepBodySchema,
  stepListSchema,
} from "../schemas/operation.ts";
import { requireScope } from "../scope.ts";
import { watchOperation } from "../watch/operation-stream.ts";

const organizationParameters = z.strictObject({ organization: nameSchema });
const parameters = organizationParameters.extend({ operation: z.string().min(1).max(100) });
const path = "/v1/organizations/{organization}/operations";
const tag = "operations";
const read = { at: "found", key: "organization.operation", action: "read" } as const;
const execute = { at: "found", key: "organization.operation", action: "execute" } as const;

/** Long work as people see and steer it. */
export function operationRoutes(context: ApiContext): readonly Route[] {
  return [...readRoutes(context), ...steerRoutes(context)];
}

function readRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "Operations of the organization that the caller may read, newest first",
      need: { at: "visible", key: "organization.operation" },
      tag,
      parameters: organizationParameters,
      query: operationListQuerySchema,
      answers: { 200: { description: "One page", schema: operationListSchema } },
      handle: async ({ parameters: names, query, caller }) => {
        const place = await requireScope(context, names);
        const within = await readableOperations(context, caller, place);
        const of = { organizationId: place.organizationId, uid: undefined, within };
        return { status: 200, body: await operationPage(context, of, query) };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${path}/{operation}`,
      summary: "One operation: where it stands and what it waits for; or watch it until it ends",
      need: read,
      tag,
      parameters,
      query: operationQuerySchema,
      answers: { 200: { description: "The operation; with watch=true server-sent events", schema: operationSchema } },
      handle: async ({ parameters: names, query, headers, caller }) => {
        const place = await requireScope(context, names);
        const found = await requireOperation(context, caller, place, names.operation);
        if (query.watch) return watchOperation(context, { place, found, caller }, headers["last-event-id"]);
        return { status: 200, body: await operationDocumentOf(context, found) };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${path}/{operation}/steps`,
      summary: "The journal of an operation: its steps, attempts, notes and failures in order",
      need: read,
      tag,
      parameters,
      answers: { 200: { description: "Every line", schema: stepListSchema } },
      handle: async ({ parameters: names, caller }) => {
        const place = await requireScope(context, names);
        const { journal } = await requireOperation(context, caller, place, names.operation);
        return { status: 200, body: { items: journal.map(stepDocument) } };
      },
    }),
  ];
}

type PageQuery = z.output<typeof operationListQuerySchema>;

/** One page of an organization's operations, or of one resource's. */
export async function operationPage(
  context: ApiContext,
  of: Pick<Parameters<ApiContext["operations"]["listOperations"]>[0], "organizationId" | "uid" | "within">,
  { state, attention, pageSize, page }: PageQuery,
) {
  const states = state === undefined ? undefined : [state];
  const needingAttention = attention === true ? { holdsForMs: oldHoldMs } : undefined;
  const asked = { ...of, states, needingAttention, limit: pageSize + 1, before: page };
  const found = await context.operations.listOperations(asked);
  const shown = found.slice(0, pageSize);
  const items = await operationDocuments(context, shown);
  const last = shown.at(-1);
  return found.length > pageSize && last !== undefined ? { items, nextPage: last.id } : { items };
}

function steerRoutes(context: ApiContext): readonly Route[] {
  const answers = { 202: { description: "Heard; it acts on it with its next step", schema: operationSchema } };
  const shared = { method: "POST", need: execute, tag, parameters, answers } as const;
  const verb = (name: string, summary: string, command: SteerCommand, onlyPeople: boolean): Route =>
    defineRoute({
      ...shared,
      path: `${path}/{operation}:${name}`,
      summary,
      onlyPeople,
      // What stops things is open to an organization in any state.
      inAnyStatus: true,
      body: steerBodySchema,
      handle: (call) => steered(context, call, command),
    });
  const stepVerb = (name: "retry" | "skip", summary: string): Route =>
    defineRoute({
      ...shared,
      path: `${path}/{operation}:${name}`,
      summary,
      onlyPeople: true,
      body: steerStepBodySchema,
      handle: (call) => steered(context, call, { verb: name, step: call.body.step }),
    });
  return [
    verb("cancel", "Stop at the next step, and take back what was made", { verb: "cancel" }, false),
    verb("resume", "Go on after it waited for a person", { verb: "resume" }, true),
    stepVerb("retry", "Go back to a step, and on from there"),
    stepVerb("skip", "Leave the step it waits at undone, where that is declared safe"),
    verb("release", "End it as it is, and give the resource back to its loop", { verb: "release" }, true),
  ];
}

type SteerCall = RouteCall<z.output<typeof parameters>, unknown, z.output<typeof steerBodySchema>>;

async function steered(context: ApiContext, call: SteerCall, command: SteerCommand) {
  const { organization, operation: operationId } = call.parameters;
  const { caller } = call;
  const place = await requireScope(context, call.parameters);
  const { organizationId } = place;
  const before = await requireOperation(context, caller, place, operationId);
  requireMaySteer(caller, organization, before);
  const stepVersion = "step" in command ? requireStep(context, before, command) : undefined;
  const { principal: author } = caller;
  const request = { organizationId, operationId, command, stepVersion, author, reason: call.body.reason };
  const answer = await context.operationIntents.steerOperation(request);
  if (answer.result === "not-found") throw operationUnknown(operationId);
  if (answer.result !== "done") throw doesNotFit(before, command, answer.result);
  const after = await requireOperation(context, caller, place, operationId);
  const headers = { location: operationPath(organization, operationId) };
  return { status: 202, body: await operationDocumentOf(context, after), headers };
}

/** The step's version, if the pipeline has it and it may be treated so. */
function requireStep(
  context: ApiContext,
  operation: OperationRecord,
  command: SteerCommand & { step: string },
): number {
  const pipeline = pipelineOf(context.kinds, operation);
  const step = pipeline?.steps.find(({ name }) => name === command.step);
  if (step === undefined) {
    const known = pipeline?.steps.map(({ name }) => name).join(", ") ?? "none";
    throw new Problem("FIELDS_INVALID", `${operation.pipeline} has no step "${command.step}". Its steps: ${known}`, {
      errors: [{ pointer: "/step", message: "is no step of this pipeline" }],
    });
  }
  if (command.verb === "skip" && !step.safeToSkip)
    throw new Problem(
      "OPERATION_STATE",
      `Step "${step.name}" cannot be skipped safely: retry it, or cancel the operation, which takes back what it made`,
    );
  if (command.verb === "skip" && operation.state === "running" && !isWait(step))
    throw doesNotFit(operation, command, "not-waiting");
  return step.version;
}

function doesNotFit(
  operation: OperationRecord,
  command: SteerCommand,
  why: "ended" | "not-waiting" | "moved",
): Problem {
  const about = `Operation ${operation.id} (${operation.pipeline})`;
  const reasons = {
    ended: `${about} has ended: ${operation.state}`,
    "not-waiting": `${about} does not wait for a person: ${operation.message}. Only one that does can be told to ${command.verb}`,
    moved: `${about} is at step "${operation.step ?? ""}" now. Look again before you decide`,
  };
  return new Problem("OPERATION_STATE", reasons[why]);
}
