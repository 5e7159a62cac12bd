import type { z } from "zod";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface RouteCall<Parameters, Query, Body> {
  readonly parameters: Parameters;
  readonly query: Query;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface RouteAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * One route, as data: what fastify serves and what the OpenAPI document says are made from the same value.
 * Every route names the one permission it needs.
 */
export interface Route {
  readonly method: Method;
  /** In OpenAPI's form: /v1/organizations/{organization}. */
  readonly path: string;
  readonly summary: string;
  readonly permission: string;
  readonly tag: string;
  readonly parameters: z.ZodObject;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  /** What the document says about the body where it is narrower than what is parsed. */
  readonly documentedBody?: z.ZodType | undefined;
  readonly takesIfMatch?: boolean | undefined;
  readonly answers: Readonly<Record<number, { readonly description: string; readonly schema?: z.ZodType }>>;
  handle(call: RouteCall<unknown, unknown, unknown>): Promise<RouteAnswer>;
}

interface TypedRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>
  extends Omit<Route, "parameters" | "query" | "body" | "handle"> {
  readonly parameters: P;
  readonly query?: Q;
  readonly body?: B;
  handle(call: RouteCall<z.output<P>, z.output<Q>, z.output<B>>): Promise<RouteAnswer>;
}

/** Checks the types of one route's handler against its schemas, and forgets them for the list. */
export function defineRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  route: TypedRoute<P, Q, B>,
): Route {
  return route;
}
