// Records the journals of this release: for every pipeline one operation that succeeded and one that was cancelled, taken from
// an installation where they ran (DATABASE_URL, or the embedded server of SETPOINT_DATA). What is recorded already stays.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { parseConfig } from "../src/config.ts";
import { kinds } from "../src/kinds/registry.ts";
import { runningServerUrl } from "../src/store/embedded/running-server.ts";
import { fileOf, parseRecording, type Recording } from "../test/journals/recording.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version: release } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

const states = ["succeeded", "cancelled"] as const;
const wanted = [...kinds.values()].flatMap((kind) =>
  (kind.pipelines ?? []).flatMap(({ name: pipeline, version, ends }) =>
    // A delete has nothing to take back.
    states
      .filter((state) => !(ends && state === "cancelled"))
      .map((state) => ({ kind: kind.kind, pipeline, version, state, leaving: ends })),
  ),
);

const client = new Client(await databaseUrl());
await client.connect();
try {
  for (const one of wanted) await record(one);
} finally {
  await client.end();
}

async function databaseUrl(): Promise<string> {
  const config = parseConfig(process.env);
  const url = config.databaseUrl ?? (await runningServerUrl(join(config.dataDirectory, "postgres")));
  if (url !== undefined) return url;
  throw new Error(
    `No server runs on ${config.dataDirectory}. Set DATABASE_URL, or SETPOINT_DATA, to where operations ran`,
  );
}

async function record(about: Pick<Recording, "kind" | "pipeline" | "version" | "state" | "leaving">): Promise<void> {
  const file = fileOf({ ...about, release, input: {}, spec: {} });
  const shown = relative(root, file);
  if (existsSync(file)) return console.log(`${shown} is recorded already`);
  // With the longest journal: it has gone through the most.
  const { rows } = await client.query<Pick<Recording, "input" | "spec" | "journal">>(
    `select o.input,
       (select e.data -> 'spec' from setpoint.sealed_entry as e
        where e.organization_id = o.organization_id and e.uid = o.resource_uid and e.data -> 'spec' is not null
          and e.at_ms <= o.created_at_ms + 1000 order by e.position desc limit 1) as spec,
       (select json_agg(jsonb_build_object('place', t.place, 'step', t.step, 'version', t.version, 'direction', t.direction,
          'result', t.result, 'atMs', t.at_ms) || t.body::jsonb order by t.place)
        from setpoint.step as t where t.organization_id = o.organization_id and t.operation_id = o.id) as journal
     from setpoint.operation as o
     where o.kind = $1 and o.pipeline = $2 and o.version = $3 and o.state = $4 order by o.journal_length desc limit 1`,
    [about.kind, about.pipeline, about.version, about.state],
  );
  const [row] = rows;
  if (row === undefined) {
    console.error(`${shown}: no operation of ${about.pipeline} version ${about.version} ${about.state} here`);
    process.exitCode = 1;
    return;
  }
  const text = `${JSON.stringify({ release, ...about, ...row }, undefined, 2)}\n`;
  parseRecording(text);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(`${shown}: ${row.journal.length} entries`);
}
