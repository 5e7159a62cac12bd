import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type JsonSchema, resolved, specSchema } from "../../../console/src/api/json-schema.ts";
import { fieldKind } from "../../../console/src/forms/field-kind.ts";
import { errorAt } from "../../../console/src/forms/field-errors.ts";
import { labelOf, oneOf } from "../../../console/src/forms/words.ts";
import { kinds } from "../../../src/kinds/registry.ts";

const document = JSON.parse(readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8")) as {
  components: { schemas: Record<string, JsonSchema> };
};
const { schemas } = document.components;

interface Asked {
  readonly path: string;
  readonly name: string;
  readonly schema: JsonSchema;
}

/** Every field that somebody is asked for, however deep. */
function fieldsOf(path: string, object: JsonSchema): readonly Asked[] {
  return Object.entries(object.properties ?? {}).flatMap(([name, property]) => {
    const schema = { ...resolved(schemas, property), ...property };
    if (schema.readOnly === true) return [];
    const at = `${path}/${name}`;
    const kind = fieldKind(schemas, schema);
    const below =
      kind.as === "object"
        ? fieldsOf(at, schema)
        : kind.as === "objects"
          ? kind.shapes.flatMap((one) => fieldsOf(at, one))
          : [];
    return [{ path: at, name, schema }, ...below];
  });
}

const forms = [...kinds.keys()].map((kind) => ({ kind, spec: specSchema(schemas, kind) }));

test("every field of every kind is asked for in a form of its own, and says what it is", () => {
  const fields = forms.flatMap(({ kind, spec }) => {
    assert.ok(spec !== undefined, `${kind} has no schema`);
    return fieldsOf(kind, spec);
  });
  assert.ok(fields.length > 100);
  const asJson = fields.filter(({ schema }) => fieldKind(schemas, schema).as === "json").map(({ path }) => path);
  assert.deepEqual(asJson, [], "nobody should have to write JSON");
  const wordless = fields.filter(({ schema }) => (schema.description ?? "") === "").map(({ path }) => path);
  assert.deepEqual(wordless, []);
});

test("a choice between fields names at least two of them, none of which is needed by itself", () => {
  const choices = forms.flatMap(({ kind, spec = {} }) => {
    const objects = [spec, ...fieldsOf(kind, spec).map(({ schema }) => schema)];
    return objects.flatMap(({ properties = {}, required = [] }) =>
      [...Map.groupBy(Object.entries(properties), ([, one]) => one["x-one-of"])]
        .filter(([choice]) => choice !== undefined)
        .map(([choice, members]) => ({ kind, choice, names: members.map(([name]) => name), required })),
    );
  });
  assert.deepEqual([...new Set(choices.map(({ kind }) => kind))].toSorted(), ["Host", "ScalingGroup"]);
  for (const { names, required } of choices) {
    assert.ok(names.length >= 2);
    assert.ok(names.every((name) => !required.includes(name)));
  }
});

test("fields are called as people say it", () => {
  for (const [name, label] of [
    ["account", "Account"],
    ["reverseDns", "Reverse DNS"],
    ["sshKeys", "SSH keys"],
    ["drainSeconds", "Drain, in seconds"],
    ["ttlSeconds", "TTL, in seconds"],
    ["cpuPercent", "CPU, in percent"],
    ["ip", "IP address"],
  ] as const)
    assert.equal(labelOf(name, {}), label);
  assert.equal(labelOf("type", { title: "Provider's name" }), "Provider's name");
  assert.deepEqual(["Rules", "Services", "Networks", "Delegations"].map(oneOf), [
    "rule",
    "service",
    "network",
    "delegation",
  ]);
});

test("what the server says about an entry is said at the field in which the entries are written", () => {
  const errors = new Map([
    ["/spec/values/1", "is no address"],
    ["/spec/name", "is taken"],
  ]);
  assert.equal(errorAt(errors, "/spec/values"), "entry 2: is no address");
  assert.equal(errorAt(errors, "/spec/name"), "is taken");
  assert.equal(errorAt(errors, "/spec/na"), undefined);
});
