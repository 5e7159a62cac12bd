// Runs the part of the matrix that is about other tenants, and prints what differs from the table as JSON.
import { startTestApi } from "../../support/api.ts";
import { generousLimits, runMatrix } from "./run.ts";
import { readTable } from "./table.ts";

const columns = ["owner", "project-member", "administrator", "service-token", "removed"];

await using api = await startTestApi({ limits: generousLimits });
const { lines, leaks } = await runMatrix(api, columns);
const expected = new Map(readTable().map((line) => [`${line.method} ${line.path}`, line.cells]));
const wrong = lines.flatMap(({ method, path, cells }) =>
  [...cells]
    .filter(([column, seen]) => expected.get(`${method} ${path}`)?.get(column) !== seen)
    .map(([column, seen]) => `${method} ${path} as ${column}: ${seen}`),
);
console.log(JSON.stringify({ routes: lines.length, wrong, leaks }));
