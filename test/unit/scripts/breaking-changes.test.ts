import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type ApiDocument, breakingChanges } from "../../../scripts/openapi/breaking-changes.ts";

const name = { type: "string", maxLength: 63 };
const thing = {
  type: "object",
  properties: { name, mode: { type: "string", enum: ["observe", "enforce"] }, count: { type: "integer" } },
  required: ["name", "count"],
  additionalProperties: false,
};
const published = documentWith({});

/** One path with a body and an answer, each of which may be given differently. */
function documentWith(change: {
  readonly body?: object;
  readonly answer?: object;
  readonly query?: readonly object[];
  readonly paths?: object;
}): ApiDocument {
  const json = (schema: object) => ({ content: { "application/json": { schema } } });
  const {
    body = thing,
    answer = thing,
    query = [{ name: "limit", in: "query", schema: { type: "integer" } }],
  } = change;
  const post = {
    parameters: query,
    requestBody: { required: true, ...json(body) },
    responses: { 201: json({ $ref: "#/components/schemas/Thing" }) },
  };
  const document = {
    paths: { "/v1/things": { post, get: { responses: {} } }, ...change.paths },
    components: { schemas: { Thing: answer } },
  };
  return document as ApiDocument;
}

const withField = (field: string, schema: object, required = false) => ({
  ...thing,
  properties: { ...thing.properties, [field]: schema },
  required: required ? [...thing.required, field] : thing.required,
});
const without = (field: string) => ({
  ...thing,
  properties: Object.fromEntries(Object.entries(thing.properties).filter(([key]) => key !== field)),
  required: thing.required.filter((key) => key !== field),
});

test("adding is fine", () => {
  const more = documentWith({
    body: withField("label", { type: "string" }),
    answer: withField("label", { type: "string" }, true),
    query: [
      { name: "limit", in: "query", schema: { type: ["integer", "string"] } },
      { name: "sort", in: "query", schema: { type: "string" } },
    ],
    paths: { "/v1/others": { get: { responses: {} } } },
  });
  assert.deepEqual(breakingChanges(published, published), []);
  assert.deepEqual(breakingChanges(published, more), []);
  const taken = withField("mode", { type: "string", enum: ["observe", "enforce", "propose"] });
  assert.deepEqual(breakingChanges(published, documentWith({ body: taken, answer: taken })), []);
});

const breaks: readonly (readonly [string, ApiDocument, RegExp])[] = [
  ["a path is removed", { ...published, paths: {} }, /^\/v1\/things was removed$/],
  [
    "a method is removed",
    { ...published, paths: { "/v1/things": { get: { responses: {} } } } },
    /^POST \/v1\/things was removed$/,
  ],
  ["an answer's field is removed", documentWith({ answer: without("count") }), /answer 201\/count was removed/],
  [
    "an answer's field may be missing",
    documentWith({ answer: { ...thing, required: ["name"] } }),
    /answer 201\/count may be missing now/,
  ],
  [
    "an answer's field has another type",
    documentWith({ answer: withField("count", { type: "string" }, true) }),
    /count: integer became string/,
  ],
  [
    "an answer's field may be null",
    documentWith({ answer: withField("count", { type: ["integer", "null"] }, true) }),
    /count: integer became integer or null/,
  ],
  [
    "a field is required of a request",
    documentWith({ body: withField("label", { type: "string" }, true) }),
    /body\/label is required now/,
  ],
  ["a field is no longer taken", documentWith({ body: without("mode") }), /body\/mode was removed/],
  [
    "fewer words are taken",
    documentWith({ body: withField("mode", { type: "string", enum: ["observe"] }) }),
    /mode: "enforce" is no longer taken/,
  ],
  [
    "only some words are taken",
    documentWith({ body: withField("name", { type: "string", enum: ["a"] }) }),
    /name: only "a" are taken now/,
  ],
  [
    "a narrower type is taken",
    documentWith({ body: withField("count", { type: "boolean" }) }),
    /count: integer was taken, and only boolean is now/,
  ],
  [
    "shorter names are taken",
    documentWith({ body: withField("name", { ...name, maxLength: 10 }) }),
    /name: maxLength was lowered to 10/,
  ],
  [
    "a pattern is asked for",
    documentWith({ body: withField("name", { ...name, pattern: "^a$" }) }),
    /name: the pattern became/,
  ],
  ["a parameter is removed", documentWith({ query: [] }), /the parameter query limit was removed/],
  [
    "a parameter is required",
    documentWith({ query: [{ name: "limit", in: "query", required: true, schema: { type: "integer" } }] }),
    /query limit is required now/,
  ],
];

for (const [what, after, line] of breaks)
  test(`it is a break when ${what}`, () => {
    const found = breakingChanges(published, after);
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0] ?? "", line);
  });

test("a schema that refers to itself is compared once", () => {
  const tree = { type: "object", properties: { below: { $ref: "#/components/schemas/Thing" }, name } };
  const grown = { type: "object", properties: { below: { $ref: "#/components/schemas/Thing" } } };
  const found = breakingChanges(documentWith({ answer: tree }), documentWith({ answer: grown }));
  assert.deepEqual(found, ["POST /v1/things answer 201/name was removed"]);
});

test("the committed document breaks nothing it promised itself", () => {
  const own = JSON.parse(readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8")) as ApiDocument;
  assert.deepEqual(breakingChanges(own, own), []);
  assert.ok(breakingChanges(own, { ...own, components: { schemas: {} } }).length > 100);
});
