import type { Canaries } from "./canaries.ts";
import { fieldsOf, isOf } from "./secret-fields.ts";

export interface Call {
  readonly as?: string;
  readonly body?: unknown;
  /** Sent as it is, instead of a body. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What this answer is meant to show, this once: a name and where it stands in the answer. */
  readonly shows?: Readonly<Record<string, (body: Readonly<Record<string, unknown>>) => string | readonly string[]>>;
}

export interface Told {
  readonly status: number;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Asks the API, and keeps every answer with what it was allowed to show. */
export class Recorder {
  readonly #url: string;
  readonly #canaries: Canaries;
  readonly #answers: { readonly place: string; readonly text: string; readonly allowed: readonly string[] }[] = [];

  readonly #used: {
    readonly method: string;
    readonly path: string;
    readonly takes: readonly string[];
    readonly gives: readonly string[];
  }[] = [];

  constructor(url: string, canaries: Canaries) {
    this.#url = url;
    this.#canaries = canaries;
  }

  async call(method: string, path: string, { as, body, raw, headers = {}, shows = {} }: Call = {}): Promise<Told> {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
        ...(sent === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await answer.text();
    const told = parsed(text);
    this.#used.push({ method, path, takes: fieldsOf(body), gives: answer.ok ? fieldsOf(told) : [] });
    if (answer.ok)
      for (const [what, find] of Object.entries(shows))
        for (const secret of [find(told)].flat()) this.#canaries.note(what, secret);
    const all = `${JSON.stringify([...answer.headers])}\n${text}`;
    this.keep(
      `the answer ${answer.status} to ${method} ${path.split("?")[0] ?? ""}`,
      all,
      answer.ok ? Object.keys(shows) : [],
    );
    return { status: answer.status, text, body: told };
  }

  /** The same, and it must succeed. */
  async must(method: string, path: string, call: Call = {}): Promise<Told> {
    const told = await this.call(method, path, call);
    if (told.status >= 300) throw new Error(`${method} ${path} was answered with ${told.status}: ${told.text}`);
    return told;
  }

  keep(place: string, text: string, allowed: readonly string[] = []): void {
    this.#answers.push({ place, text, allowed });
  }

  /** Which of these fields no request had, and no answer. */
  unused(fields: readonly string[]): readonly string[] {
    return fields.filter((field) => {
      const [method = "", template = "", verb = "", name = ""] = field.split(" ");
      return !this.#used.some(
        (call) =>
          call.method === method &&
          isOf(template, call.path) &&
          (verb === "takes" ? call.takes : call.gives).includes(name),
      );
    });
  }

  /** Every sighting by its place. Looked for at the end: a secret may show up before it is known to be one. */
  sightings(): readonly string[] {
    return this.#answers.flatMap(({ place, text, allowed }) =>
      this.#canaries.sightings(text, allowed).map((what) => `${place}: ${what}`),
    );
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
