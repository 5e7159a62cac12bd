import { createSystemIds } from "../../../src/runtime/system-ids.ts";
import { systemClock } from "../../../src/runtime/system-clock.ts";
import type { Ids } from "../../../src/ports/ids.ts";
import type { Log } from "../../../src/ports/log.ts";
import { Database, type DatabaseOptions, type DatabaseRole } from "../../../src/store/database.ts";
import { PostgresEngineStore } from "../../../src/store/engine-store.ts";
import { PostgresIntentStore } from "../../../src/store/intent-store.ts";
import { PostgresOperationIntents } from "../../../src/store/operation-intents.ts";
import { PostgresOperationReads } from "../../../src/store/operation-reads.ts";
import { PostgresOperationStore } from "../../../src/store/operation-store.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { PostgresReadStore } from "../../../src/store/read-store.ts";
import { query, startTestServer, type TestServer } from "../../support/postgres.ts";

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

const template = "setpoint_migrated";

export interface StoreServer extends AsyncDisposable {
  readonly server: TestServer;
  /** The URL of a migrated database of its own. */
  createDatabase(): Promise<string>;
}

/** A server with a migrated template, so that each test gets its database in a moment. */
export async function startStoreServer(): Promise<StoreServer> {
  const server = await startTestServer();
  const url = await server.createDatabase({ name: template });
  await migrate({ url, log: silentLog });
  return {
    server,
    createDatabase: () => server.createDatabase({ template }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export interface Stores extends AsyncDisposable {
  readonly url: string;
  readonly engine: PostgresEngineStore;
  readonly intent: PostgresIntentStore;
  readonly read: PostgresReadStore;
  readonly operations: PostgresOperationStore;
  readonly operationIntents: PostgresOperationIntents;
  readonly operationReads: PostgresOperationReads;
  readonly api: Database;
  readonly engineDatabase: Database;
  readonly administration: Database;
  /** Shards that were poked, in order. */
  readonly poked: number[][];
}

export function openStores(
  url: string,
  options: Partial<Pick<DatabaseOptions, "nowMs" | "onStatement">> & {
    readonly ids?: Ids;
    readonly makeDatabase?: (role: DatabaseRole) => Database;
    /** Edits at the same time share a transaction; without, they race. */
    readonly together?: boolean;
  } = {},
): Stores {
  const { ids = createSystemIds(), makeDatabase, together = false, ...rest } = options;
  const open = makeDatabase ?? ((role: DatabaseRole) => new Database({ url, role, log: silentLog, ...rest }));
  const [api, engineDatabase, administration] = [open("setpoint_api"), open("setpoint_engine"), open("setpoint_admin")];
  const poked: number[][] = [];
  return {
    url,
    poked,
    api,
    engineDatabase,
    administration,
    engine: new PostgresEngineStore({ database: engineDatabase, clock: systemClock, ids }),
    intent: new PostgresIntentStore({
      database: api,
      administration,
      ids,
      ...(together ? { clock: systemClock } : {}),
      poke: (shards) => poked.push([...shards].sort((left, right) => left - right)),
    }),
    read: new PostgresReadStore({ database: api, administration }),
    operations: new PostgresOperationStore({ database: engineDatabase, clock: systemClock }),
    operationIntents: new PostgresOperationIntents({ database: api, clock: systemClock }),
    operationReads: new PostgresOperationReads({ database: api, administration }),
    async [Symbol.asyncDispose]() {
      await Promise.all([api.end(), engineDatabase.end(), administration.end()]);
    },
  };
}

/** Empties a migrated database. */
export async function resetDatabase(url: string, installationId: string): Promise<void> {
  await query(
    url,
    `do $$
     declare tables text;
     begin
       select string_agg(format('setpoint.%I', tablename), ', ') into tables from pg_tables
       where schemaname = 'setpoint' and tablename <> 'migration';
       execute 'truncate ' || tables || ' restart identity';
       insert into setpoint.shard (shard) select generate_series(0, 63);
       insert into setpoint.worker_shard (shard) select generate_series(0, 63);
       insert into setpoint.log_head default values;
       insert into setpoint.installation (id) values ('${installationId}');
     end $$`,
  );
}
