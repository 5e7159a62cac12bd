import type { z } from "zod";
import type { IdempotencyScope, StoredAnswer } from "../ports/idempotency-store.ts";
import type { Caller } from "./access/caller.ts";
import type { Need } from "./access/need.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Where a request came from, for the audit trail and for limits. */
export interface RequestOrigin {
  readonly requestId: string;
  readonly address: string;
  readonly userAgent: string | undefined;
  /** Whether it came over TLS, ours or a trusted proxy's. */
  readonly secure: boolean;
}

export interface OpenRouteCall<Parameters, Query, Body> {
  readonly parameters: Parameters;
  readonly query: Query;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly origin: RequestOrigin;
}

/** A call of a route that is not open to anybody: it has a caller, whose right to it has been checked. */
export interface RouteCall<Parameters, Query, Body> extends OpenRouteCall<Parameters, Query, Body> {
  readonly caller: Caller;
  /** Set where the answer is kept for a repeated request: what writes in one transaction can write the answer with it. */
  readonly keeping?: Keeping | undefined;
}

export interface Keeping {
  readonly scope: IdempotencyScope;
  /** The answer as it is kept. */
  stored(answer: RouteAnswer): StoredAnswer;
  /** Set by whoever has written it: then nobody does again. */
  isKept: boolean;
}

export interface RouteAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Instead of a body: whoever goes on answering for as long as the connection is there. */
  readonly stream?: ((to: AnswerStream) => void) | undefined;
}

/** A connection that is answered bit by bit. */
export interface AnswerStream {
  /** False when it has been closed, or so much waits to be read at the other end that it was closed for it. */
  write(text: string): boolean;
  /** Resolves when what was written has been taken, or nobody is there to take it. */
  drained(): Promise<void>;
  end(): void;
  /** Fires when the connection is gone, whoever ended it. */
  readonly closed: AbortSignal;
}

/**
 * One route, as data: what fastify serves and what the OpenAPI document says are made from the same value.
 * Every route names the one need it has.
 */
export interface Route {
  readonly method: Method;
  /** In OpenAPI's form: /v1/organizations/{organization}. */
  readonly path: string;
  readonly summary: string;
  readonly need: Need;
  /** Machines and assistants are refused: approving, unfreezing, raising a limit, and whatever concerns credentials. */
  readonly onlyPeople?: boolean | undefined;
  /** Assistants are refused and other machines are not: pipelines rotate secrets, and a model should never hold one. */
  readonly notAssistants?: boolean | undefined;
  /** Asks for a fresh proof of who the person is. */
  readonly stepUp?: boolean | undefined;
  /** Creates also where the organization is not verified or not active: what stops things, and what ends them. */
  readonly inAnyStatus?: boolean | undefined;
  readonly tag: string;
  readonly parameters: z.ZodObject;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  /** What the document says about the body where it is narrower than what is parsed. */
  readonly documentedBody?: z.ZodType | undefined;
  readonly takesIfMatch?: boolean | undefined;
  /** The media type of the body, where it is not JSON in general. */
  readonly bodyType?: string | undefined;
  /**
   * The answer holds a secret that is shown once: it is not kept for a repeated request. Unless a route says so itself, the
   * names of the answer's fields decide.
   */
  readonly showsSecret?: boolean | undefined;
  readonly answers: Readonly<Record<number, { readonly description: string; readonly schema?: z.ZodType }>>;
  handle(call: RouteCall<unknown, unknown, unknown>): Promise<RouteAnswer>;
}

interface TypedRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>
  extends Omit<Route, "need" | "parameters" | "query" | "body" | "handle"> {
  readonly need: Exclude<Need, { readonly at: "nobody" }>;
  readonly parameters: P;
  readonly query?: Q;
  readonly body?: B;
  handle(call: RouteCall<z.output<P>, z.output<Q>, z.output<B>>): Promise<RouteAnswer>;
}

interface TypedOpenRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>
  extends Omit<TypedRoute<P, Q, B>, "need" | "onlyPeople" | "notAssistants" | "stepUp" | "handle"> {
  handle(call: OpenRouteCall<z.output<P>, z.output<Q>, z.output<B>>): Promise<RouteAnswer>;
}

/** A route that anybody may call. Its handler is given no caller. */
export function defineOpenRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  route: TypedOpenRoute<P, Q, B>,
): Route {
  type Call = Parameters<typeof route.handle>[0];
  return { ...route, need: { at: "nobody" }, handle: (call) => route.handle(call as Call) };
}

/** Checks the types of one route's handler against its schemas, and forgets them for the list. */
export function defineRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  route: TypedRoute<P, Q, B>,
): Route {
  return route;
}
