/** The part of a document that programs rely on. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** What a request may say must not become less; what an answer says must not become less, nor something else. */
type Direction = "request" | "answer";

/** Everything that a program written against `before` would notice in `after`, one line each. Additions are fine. */
export function breakingChanges(before: ApiDocument, after: ApiDocument): readonly string[] {
  return new Comparison(before, after).run();
}

class Comparison {
  readonly #before: ApiDocument;
  readonly #after: ApiDocument;
  readonly #found = new Set<string>();

  constructor(before: ApiDocument, after: ApiDocument) {
    this.#before = before;
    this.#after = after;
  }

  run(): readonly string[] {
    for (const [path, operations] of Object.entries(this.#before.paths)) {
      const now = this.#after.paths[path];
      if (now === undefined) this.#found.add(`${path} was removed`);
      else
        for (const [method, operation] of Object.entries(operations))
          this.#operation(`${method.toUpperCase()} ${path}`, operation, now[method]);
    }
    return [...this.#found];
  }

  #operation(where: string, before: Operation, after: Operation | undefined): void {
    if (after === undefined) return void this.#found.add(`${where} was removed`);
    this.#parameters(where, before, after);
    this.#body(where, before, after);
    for (const [status, answer] of Object.entries(before.responses ?? {})) {
      const now = after.responses?.[status];
      if (now === undefined) this.#found.add(`${where} no longer answers ${status}`);
      else this.#contents(`${where} answer ${status}`, answer.content, now.content, "answer");
    }
  }

  #parameters(where: string, before: Operation, after: Operation): void {
    const key = (parameter: { readonly name: string; readonly in: string }) => `${parameter.in} ${parameter.name}`;
    const was = new Map((before.parameters ?? []).map((parameter) => [key(parameter), parameter]));
    const is = new Map((after.parameters ?? []).map((parameter) => [key(parameter), parameter]));
    for (const [name, parameter] of was) {
      const now = is.get(name);
      if (now === undefined) this.#found.add(`${where}: the parameter ${name} was removed`);
      else this.#schema(`${where} ${name}`, parameter.schema ?? {}, now.schema ?? {}, "request", []);
    }
    for (const [name, { required }] of is)
      if (required === true && was.get(name)?.required !== true)
        this.#found.add(`${where}: the parameter ${name} is required now`);
  }

  #body(where: string, before: Operation, after: Operation): void {
    if (before.requestBody === undefined) {
      if (after.requestBody?.required === true) this.#found.add(`${where} requires a body now`);
      return;
    }
    if (after.requestBody === undefined) return void this.#found.add(`${where} takes no body any more`);
    this.#contents(`${where} body`, before.requestBody.content, after.requestBody.content, "request");
  }

  #contents(where: string, before: Content = {}, after: Content = {}, direction: Direction): void {
    for (const [type, { schema }] of Object.entries(before)) {
      const now = after[type];
      if (now === undefined) this.#found.add(`${where}: ${type} was removed`);
      else this.#schema(where, schema ?? {}, now.schema ?? {}, direction, []);
    }
  }

  #schema(where: string, was: Schema, is: Schema, direction: Direction, above: readonly string[]): void {
    const pair = `${was.$ref ?? ""} ${is.$ref ?? ""}`;
    if (was.$ref !== undefined && above.includes(pair)) return;
    const inside = was.$ref === undefined ? above : [...above, pair];
    const [before, after] = [resolved(was, this.#before), resolved(is, this.#after)];
    this.#values(where, before, after, direction);
    this.#fields(where, before, after, direction, inside);
    if (before.items !== undefined && after.items !== undefined)
      this.#schema(`${where}[]`, before.items, after.items, direction, inside);
    const [extraBefore, extraAfter] = [before.additionalProperties, after.additionalProperties];
    if (typeof extraBefore === "object" && typeof extraAfter === "object")
      this.#schema(`${where}{}`, extraBefore, extraAfter, direction, inside);
    this.#branches(where, before, after, direction, inside);
  }

  /** In a request fewer values are a break; in an answer, another type is. More values in an answer are an addition. */
  #values(where: string, before: Schema, after: Schema, direction: Direction): void {
    const [typesBefore, typesAfter] = [typesOf(before), typesOf(after)];
    const lost = typesBefore.filter((type) => !accepts(typesAfter, type));
    const gained = typesAfter.filter((type) => !accepts(typesBefore, type));
    if (direction === "request" && typesAfter.length > 0 && (lost.length > 0 || typesBefore.length === 0))
      this.#found.add(
        `${where}: ${typesBefore.join(" or ") || "anything"} was taken, and only ${typesAfter.join(" or ")} is now`,
      );
    if (direction === "answer" && typesBefore.length > 0 && (gained.length > 0 || typesAfter.length === 0))
      this.#found.add(`${where}: ${typesBefore.join(" or ")} became ${typesAfter.join(" or ") || "anything"}`);
    const [wordsBefore, wordsAfter] = [wordsOf(before), wordsOf(after)];
    if (direction === "answer" || wordsAfter === undefined) return this.#bounds(where, before, after, direction);
    if (wordsBefore === undefined) return void this.#found.add(`${where}: only ${wordsAfter.join(", ")} are taken now`);
    const gone = wordsBefore.filter((word) => !wordsAfter.includes(word));
    if (gone.length > 0)
      this.#found.add(`${where}: ${gone.join(", ")} ${gone.length === 1 ? "is" : "are"} no longer taken`);
  }

  #bounds(where: string, before: Schema, after: Schema, direction: Direction): void {
    if (direction === "answer") return;
    for (const least of ["minLength", "minimum", "minItems"] as const)
      if (
        (after[least] ?? Number.NEGATIVE_INFINITY) >
        (before[least] ?? (least === "minimum" ? Number.NEGATIVE_INFINITY : 0))
      )
        this.#found.add(`${where}: ${least} was raised to ${after[least]}`);
    for (const most of ["maxLength", "maximum", "maxItems"] as const)
      if ((after[most] ?? Number.POSITIVE_INFINITY) < (before[most] ?? Number.POSITIVE_INFINITY))
        this.#found.add(`${where}: ${most} was lowered to ${after[most]}`);
    if (after.pattern !== undefined && after.pattern !== before.pattern)
      this.#found.add(`${where}: the pattern became ${after.pattern}, which may take less`);
  }

  #fields(where: string, before: Schema, after: Schema, direction: Direction, inside: readonly string[]): void {
    for (const [name, schema] of Object.entries(before.properties ?? {})) {
      const now = after.properties?.[name];
      if (now !== undefined) this.#schema(`${where}/${name}`, schema, now, direction, inside);
      else if (direction === "answer" || after.additionalProperties === false)
        this.#found.add(`${where}/${name} was removed`);
      const kept = after.required?.includes(name) === true || before.required?.includes(name) !== true;
      if (direction === "answer" && now !== undefined && !kept) this.#found.add(`${where}/${name} may be missing now`);
    }
    if (direction === "answer") return;
    for (const name of after.required ?? [])
      if (before.required?.includes(name) !== true) this.#found.add(`${where}/${name} is required now`);
  }

  /** Alternatives are matched one to one where there are as many; otherwise each is looked for among the others. */
  #branches(where: string, before: Schema, after: Schema, direction: Direction, inside: readonly string[]): void {
    const [was, is] = [before.anyOf ?? before.oneOf ?? [], after.anyOf ?? after.oneOf ?? []];
    if (was.length === 0 || is.length === 0) return;
    for (const [at, branch] of was.entries()) {
      const same = is.find((other) => JSON.stringify(other) === JSON.stringify(branch));
      const now = same ?? is[at];
      if (now !== undefined) this.#schema(`${where}|${at}`, branch, now, direction, inside);
      else if (direction === "request") this.#found.add(`${where}: alternative ${at} is no longer taken`);
    }
  }
}

function resolved(schema: Schema, document: ApiDocument): Schema {
  const name = schema.$ref?.replace("#/components/schemas/", "");
  return name === undefined ? schema : (document.components?.schemas?.[name] ?? {});
}

function typesOf(schema: Schema): readonly string[] {
  if (schema.type !== undefined) return typeof schema.type === "string" ? [schema.type] : schema.type;
  const words = wordsOf(schema);
  return words === undefined ? [] : [...new Set(words.map((word) => typeof JSON.parse(word)))];
}

function accepts(types: readonly string[], type: string): boolean {
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

function wordsOf(schema: Schema): readonly string[] | undefined {
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  return schema.enum?.map((word) => JSON.stringify(word));
}
