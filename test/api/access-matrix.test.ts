import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApi } from "../support/api.ts";
import { generousLimits, type MatrixResult, runMatrix } from "./matrix/run.ts";
import { readTable, writeTable } from "./matrix/table.ts";

let result: MatrixResult;
test("every route is called by everybody, at home, next door and at another tenant's", async () => {
  await using api = await startTestApi({ limits: generousLimits });
  result = await runMatrix(api);
});

test("every route is in the table, and nothing else is", () => {
  const named = readTable().map(({ method, path }) => `${method} ${path}`);
  const served = result.lines.map(({ method, path }) => `${method} ${path}`);
  const missing = result.lines.filter(({ method, path }) => !named.includes(`${method} ${path}`));
  assert.deepEqual(
    served.filter((route) => !named.includes(route)),
    [],
    `test/access-matrix.tsv lacks these. Review what they are answered with now, then add it:\n${writeTable(missing)}`,
  );
  assert.deepEqual(
    named.filter((route) => !served.includes(route)),
    [],
    "test/access-matrix.tsv has routes that are not served",
  );
  assert.equal(new Set(named).size, named.length, "a route is in the table twice");
});

test("everybody is answered as the table says", () => {
  const expected = new Map(readTable().map((line) => [`${line.method} ${line.path}`, line.cells]));
  const wrong = result.lines.flatMap(({ method, path, cells }) =>
    [...cells]
      .filter(([column, seen]) => (expected.get(`${method} ${path}`)?.get(column) ?? seen) !== seen)
      .map(([column, seen]) => {
        const said = expected.get(`${method} ${path}`)?.get(column);
        return `${method} ${path} as ${column}: ${seen}, and the table says ${said}`;
      }),
  );
  assert.deepEqual(wrong, []);
});

test("another tenant's things are answered like things that do not exist, and nothing tells of them", () => {
  assert.deepEqual(result.leaks, []);
});

test("the table itself keeps what no role may ever have", () => {
  for (const { method, path, cells } of readTable()) {
    const cell = (column: string) => cells.get(column) ?? "";
    const route = `${method} ${path}`;
    const isOpen = cell("anonymous") === "422";
    for (const column of ["anonymous", "revoked", "expired"])
      assert.match(cell(column), isOpen ? /^422$/ : /^401$/, `${route} as ${column}`);
    if (!path.startsWith("/v1/organizations/{organization}")) continue;
    const tenants = ["owner", "admin", "member", "auditor", "billing", "reader", "project-member"];
    for (const column of [...tenants, "service-token", "assistant-token", "removed"])
      assert.match(cell(column), /(^|\/)40[34]$/, `${route} as ${column} in another tenant`);
    assert.match(cell("crossed"), /^(404|-)$/, `${route} with another tenant's ids`);
    assert.doesNotMatch(cell("removed"), /2xx/, route);
    if (/:(approve|reject)$/.test(path))
      for (const column of ["service-token", "assistant-token"]) assert.doesNotMatch(cell(column), /2xx/, route);
  }
});
