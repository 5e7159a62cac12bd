/** A place in an API: method, pattern with {parameters}, and who answers. */
export interface Route<Call> {
  readonly method: string;
  readonly path: string;
  readonly answer: (call: Call) => RouteAnswer;
}

export interface RouteAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Match<Call> {
  readonly route: Route<Call>;
  readonly params: Readonly<Record<string, string>>;
}

interface Node<Call> {
  readonly literal: Map<string, Node<Call>>;
  parameter: Node<Call> | undefined;
  readonly routes: Map<string, Route<Call>>;
}

/** A tree of path segments; a literal segment wins over a parameter, as `/servers/actions` over `/servers/{id}`. */
export class Router<Call> {
  readonly #root: Node<Call> = emptyNode();

  constructor(routes: readonly Route<Call>[]) {
    for (const route of routes) {
      const node = segmentsOf(route.path).reduce<Node<Call>>((at, segment) => childOf(at, segment), this.#root);
      if (node.routes.has(route.method)) throw new Error(`${route.method} ${route.path} is listed twice.`);
      node.routes.set(route.method, route);
    }
  }

  /** `elsewhere`: the path is known, for other methods than this. */
  match(method: string, path: string): Match<Call> | "elsewhere" | undefined {
    const found = this.#find(this.#root, segmentsOf(path), []);
    if (found === undefined) return undefined;
    const route = found.node.routes.get(method);
    if (route === undefined) return "elsewhere";
    const names = segmentsOf(route.path).filter((segment) => segment.startsWith("{"));
    return { route, params: Object.fromEntries(names.map((name, at) => [name.slice(1, -1), found.values[at] ?? ""])) };
  }

  #find(
    node: Node<Call>,
    segments: readonly string[],
    values: readonly string[],
  ): { readonly node: Node<Call>; readonly values: readonly string[] } | undefined {
    const [segment, ...rest] = segments;
    if (segment === undefined) return node.routes.size > 0 ? { node, values } : undefined;
    const literal = node.literal.get(segment);
    const found = literal === undefined ? undefined : this.#find(literal, rest, values);
    if (found !== undefined || node.parameter === undefined) return found;
    return this.#find(node.parameter, rest, [...values, decoded(segment)]);
  }
}

function emptyNode<Call>(): Node<Call> {
  return { literal: new Map(), parameter: undefined, routes: new Map() };
}

function childOf<Call>(node: Node<Call>, segment: string): Node<Call> {
  if (segment.startsWith("{")) {
    node.parameter ??= emptyNode();
    return node.parameter;
  }
  const child = node.literal.get(segment) ?? emptyNode<Call>();
  node.literal.set(segment, child);
  return child;
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** A segment that is no valid percent-encoding names nothing, and is kept as it came. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
