/** As much of JSON Schema as the kinds' zod schemas become. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly $ref?: string;
  /** Filled in by the server. */
  readonly readOnly?: boolean;
  /** Asked for at once, though it may be left out. */
  readonly "x-usual"?: boolean;
  /** Of the fields that say the same word here exactly one is said. */
  readonly "x-one-of"?: string;
}

/** The schema of what a kind's spec may be; undefined where it is not known. */
export function specSchema(schemas: Readonly<Record<string, JsonSchema>>, kind: string): JsonSchema | undefined {
  return schemas[`${kind}Manifest`]?.properties?.["spec"];
}

export function resolved(schemas: Readonly<Record<string, JsonSchema>>, schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : (schemas[name] ?? {});
}
