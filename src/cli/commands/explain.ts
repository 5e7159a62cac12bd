import type { Command } from "commander";
import { z } from "zod";
import type { ApiClient } from "../api-client.ts";
import { usageError } from "../cli-error.ts";
import { findKind } from "../kind-names.ts";
import { table } from "../output.ts";
import { type OutputOptions, showOne, withOutput } from "../records.ts";
import type { CliWorld } from "../world.ts";

/** As much of JSON Schema as a person is shown. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly $ref?: string;
}

const documentSchema = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });

/** explain: what may stand in a manifest, from the schemas the server itself checks with. */
export function registerExplain(program: Command, world: CliWorld, client: ApiClient): void {
  withOutput(program.command("explain"))
    .description("what the fields of a kind mean, such as dnszone or dnszone.spec.account")
    .argument("<kind[.path]>")
    .action(async (text: string, options: OutputOptions) => {
      const [word = "", ...path] = text.split(".");
      const kind = await findKind(client, word);
      const { components } = documentSchema.parse(await client.get("/v1/openapi.json"));
      const schemas = components.schemas as Readonly<Record<string, Schema>>;
      const found = path.reduce<Schema>(
        (schema, field) => fieldOf(schemas, schema, field, text),
        resolved(schemas, { $ref: `#/components/schemas/${kind.kind}Manifest` }),
      );
      showOne(world, options, {
        value: found,
        name: text,
        text: () => {
          const fields = fieldsOf(schemas, found);
          return [
            `${text}: ${typeOf(schemas, found)}\n`,
            ...(found.description === undefined ? [] : [`${found.description}\n`]),
            ...(fields.length === 0 ? [] : ["\n", table(world, ["FIELD", "TYPE", "REQUIRED", "MEANING"], fields)]),
          ].join("");
        },
      });
    });
}

function resolved(schemas: Readonly<Record<string, Schema>>, schema: Schema): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : (schemas[name] ?? schema);
}

function fieldOf(schemas: Readonly<Record<string, Schema>>, parent: Schema, field: string, text: string): Schema {
  const schema = parent.items === undefined ? parent : resolved(schemas, parent.items);
  const found = alternatives(schemas, schema).flatMap((one) => one.properties?.[field] ?? []);
  const [first] = found;
  if (first !== undefined) return resolved(schemas, first);
  const known = alternatives(schemas, schema).flatMap((one) => Object.keys(one.properties ?? {}));
  throw usageError(`${text}: there is no field "${field}". Fields: ${[...new Set(known)].join(", ") || "none"}`);
}

function alternatives(schemas: Readonly<Record<string, Schema>>, schema: Schema): readonly Schema[] {
  return [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((one) => resolved(schemas, one));
}

function fieldsOf(schemas: Readonly<Record<string, Schema>>, schema: Schema): readonly (readonly string[])[] {
  const inner = schema.items === undefined ? schema : resolved(schemas, schema.items);
  const rows = alternatives(schemas, inner).flatMap((one) =>
    Object.entries(one.properties ?? {}).map(([name, field]): readonly [string, readonly string[]] => {
      const meaning = [resolved(schemas, field).description ?? ""];
      if (field.default !== undefined) meaning.push(`default ${JSON.stringify(field.default)}`);
      return [
        name,
        [
          name,
          typeOf(schemas, field),
          one.required?.includes(name) === true ? "yes" : "",
          meaning.filter((part) => part !== "").join("; "),
        ],
      ];
    }),
  );
  return [...new Map(rows).values()];
}

function typeOf(schemas: Readonly<Record<string, Schema>>, given: Schema): string {
  const schema = resolved(schemas, given);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.items !== undefined) return `list of ${typeOf(schemas, schema.items)}`;
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (choices.length > 0) return [...new Set(choices.map((choice) => typeOf(schemas, choice)))].join(" | ");
  if (typeof schema.additionalProperties === "object") return `map of ${typeOf(schemas, schema.additionalProperties)}`;
  return [schema.type ?? "anything"].flat().join(" | ");
}
