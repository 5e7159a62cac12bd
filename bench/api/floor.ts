import { shardOf } from "../../src/kernel/hash.ts";
import type { Ids } from "../../src/ports/ids.ts";
import type { Database } from "../../src/store/database.ts";
import { call, statement } from "../../src/store/statement.ts";
import { accountId, organizationId, scope, zoneManifest } from "./geometry.ts";

/** The rows that a created zone leaves behind, and nothing else: no check, no answer, no caller. */
const insertResource = statement<never>(
  "floor resource",
  "tenants",
  `insert into setpoint.resource (organization_id, uid, kind, name, scope, path, spec, labels, author_name, author_type,
     mode, generation, revision, declared_at_ms, field_owners)
   values ($1, $2, 'DnsZone', $3, $4, array['platform', $4], $5::json, '{}', 'bench', 'machine', 'observe', 1, 1,
     setpoint.now_ms(), $6::jsonb)`,
);
const insertSubject = statement<never>(
  "floor subject",
  "tenants",
  `with made as (
     insert into setpoint.subject (organization_id, resource_uid, kind, name, account_id, shard)
     values ($1, $2, 'DnsZone', $3, $5, $6) returning id
   ),
   due as (
     insert into setpoint.subject_due (subject_id, organization_id, shard, priority, due_at_ms)
     select made.id, $1, $6, 1, setpoint.now_ms() from made
   )
   insert into setpoint.subject_summary (subject_id, organization_id, resource_uid, scope, kind, name, changed_at_ms)
   select made.id, $1, $2, $4, 'DnsZone', $3, setpoint.now_ms() from made`,
);
const insertLog = statement<never>(
  "floor log",
  "tenants",
  `insert into setpoint.log_entry (organization_id, type, uid, revision, actor, data, trail, at_ms)
   values ($1, 'resource.created', $2, 1, 'bench', $3::json, $4::json, setpoint.now_ms())`,
);

export class FloorWriter {
  readonly #database: Database;
  readonly #ids: Ids;
  readonly #logged: () => void;

  constructor(database: Database, ids: Ids, logged: () => void) {
    this.#database = database;
    this.#ids = ids;
    this.#logged = logged;
  }

  /** Milliseconds for all of them, each in a transaction of its own that leaves in one piece. */
  async write(options: { readonly count: number; readonly atOnce: number; readonly name: string }): Promise<number> {
    let next = 0;
    const startedMs = performance.now();
    const work = async () => {
      for (let index = next++; index < options.count; index = next++) await this.#one(`${options.name}-${index}`);
    };
    await Promise.all(Array.from({ length: options.atOnce }, work));
    return performance.now() - startedMs;
  }

  async #one(name: string): Promise<void> {
    const uid = this.#ids.next();
    const { spec, metadata } = zoneManifest(name);
    const owners = { "/spec/account": "bench", "/spec/zone": "bench", "/metadata/mode": "bench" };
    const data = {
      kind: "DnsZone",
      name,
      scope,
      generation: 1,
      spec,
      labels: {},
      mode: metadata.mode,
      authorType: "machine",
    };
    const trail = { type: "machine", credential: "service-token/bench", address: "127.0.0.1", requestId: uid };
    await this.#database.transact({ organizations: [organizationId] }, [
      call(insertResource, organizationId, uid, name, scope, JSON.stringify(spec), JSON.stringify(owners)),
      call(insertSubject, organizationId, uid, name, scope, accountId, shardOf(accountId)),
      call(insertLog, organizationId, uid, JSON.stringify(data), JSON.stringify(trail)),
    ]);
    this.#logged();
  }
}
