import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../../mutants/source-copy.ts";

/** Which of the two walls between tenants a copy of the product still has. */
export type Walls = "row-level security alone" | "the store's filter alone" | "no wall around tokens";

/** A copy of the product and of what tests it, inside the repository so that packages resolve. */
export interface WalledCopy extends Disposable {
  /** The program that runs the matrix there and prints what it found. */
  readonly program: string;
}

export function walledCopy(walls: Walls): WalledCopy {
  const folder = join(repository, ".scratch", `walls-${process.pid}-${walls.replaceAll(/\W+/g, "-")}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(repository, "src"), join(folder, "src"), { recursive: true });
  for (const part of ["support", "api/matrix", "mutants", "access-matrix.tsv"])
    cpSync(join(repository, "test", part), join(folder, "test", part), { recursive: true });
  const store = join(folder, "src/store");
  if (walls === "row-level security alone" && takeFilterOut(store, /\.ts$/) < filtersAtLeast)
    throw new Error("Statements compare their tenant in another way by now: bring test/api/matrix/walls.ts up to date");
  if (walls === "no wall around tokens") takeFilterOut(store, /^sql\/credentials\.ts$/);
  if (walls !== "row-level security alone") takeSecurityOff(join(store, "migrations"));
  return {
    program: join(folder, "test/api/matrix/print.ts"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const filter = /(?:(?:\$\{\w+\}|\b[a-z_]+)\.)?\borganization_id (?:=|is not distinct from) (\$\d+)(?:::uuid)?/g;
/** There are many. */
const filtersAtLeast = 100;

/** Every comparison of a row's tenant with the one that was asked for is true. Answers with how many there were. */
function takeFilterOut(store: string, files: RegExp): number {
  let count = 0;
  for (const file of readdirSync(store, { recursive: true, encoding: "utf8" }).filter((name) => files.test(name))) {
    const text = readFileSync(join(store, file), "utf8");
    const changed = text.replace(filter, (_match, parameter: string) => {
      count++;
      return `(${parameter}::uuid is null or true)`;
    });
    if (changed !== text) writeFileSync(join(store, file), changed);
  }
  return count;
}

/** As if no table had ever had a policy. */
function takeSecurityOff(migrations: string): void {
  const last = Math.max(...readdirSync(migrations).map((file) => Number(file.slice(0, 4))));
  const name = `${String(last + 1).padStart(4, "0")}-without-row-level-security.sql`;
  writeFileSync(
    join(migrations, name),
    `do $$
     declare found text;
     begin
       for found in select tablename from pg_tables where schemaname = 'setpoint' loop
         execute format('alter table setpoint.%I no force row level security, disable row level security', found);
       end loop;
     end $$;\n`,
  );
}
