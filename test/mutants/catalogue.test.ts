import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { mutants } from "./catalogue/index.ts";
import { docsDrift } from "./docs.ts";
import { conditions, engineRow, guards } from "./rows.ts";
import { patchedFiles, repository } from "./source-copy.ts";

test("every guard has two mutants and every condition of the permit has one", () => {
  const count = (row: string) => mutants.filter((mutant) => mutant.row === row).length;
  const short = [
    ...guards.filter((guard) => count(guard) < 2),
    ...conditions.filter((condition) => count(condition) < 1),
  ];
  assert.deepEqual(short, []);
  const known = new Set([...guards, ...conditions, engineRow]);
  const unknown = mutants.filter(({ row }) => !known.has(row)).map(({ name, row }) => `${name}: ${row}`);
  assert.deepEqual(unknown, []);
});

test("no two mutants have one name or make the same change", () => {
  const names = mutants.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  const changes = mutants.map(({ patches }) => JSON.stringify(patches));
  assert.equal(new Set(changes).size, changes.length);
});

for (const mutant of mutants) {
  test(`${mutant.name} still fits the source and changes it`, () => {
    assert.ok(patchedFiles(mutant, join(repository, "src")).size > 0);
    for (const { find, replace } of mutant.patches) assert.notEqual(find, replace);
  });
}

test("the committed table is that of the catalogue", () => {
  assert.equal(docsDrift(), undefined);
});
