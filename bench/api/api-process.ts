import { composeContext } from "../../src/compose/api-context.ts";
import { readConsole } from "../../src/compose/console-files.ts";
import { startHousekeeping } from "../../src/compose/housekeeping.ts";
import type { Caller } from "../../src/control-api/access/caller.ts";
import { can } from "../../src/control-api/access/can.ts";
import { scopePathOf } from "../../src/control-api/access/scope-path.ts";
import { createApp } from "../../src/control-api/app.ts";
import { projectScopeOf } from "../../src/control-api/names.ts";
import { defaultRequestLimits } from "../../src/control-api/limits/request-limits.ts";
import { PostgresSignalSender } from "../../src/fabric/postgres-signals.ts";
import { signalOf } from "../../src/fabric/signal-text.ts";
import { kinds } from "../../src/kinds/registry.ts";
import { RootKeyBox } from "../../src/runtime/root-key-box.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { systemSecretRandom } from "../../src/runtime/system-secret-random.ts";
import { createWebhookSender } from "../../src/runtime/webhook-sender.ts";
import { Database } from "../../src/store/database.ts";
import { anyUnsealed } from "../../src/store/sql/sealing.ts";
import { call } from "../../src/store/statement.ts";
import { PostgresNotificationStore } from "../../src/store/notification-store.ts";
import { answerCalls } from "../harness/child.ts";
import { benchLog } from "../scheduler/bench-engine.ts";
import { FloorWriter } from "./floor.ts";
import { operatorToken, organization, organizationId } from "./geometry.ts";

/** The Control API as the product composes it, in a process of its own, and the floor through the very same pool. */
const [, , url = ""] = process.argv;
const cleanup = new AsyncDisposableStack();
const database = new Database({ url, role: "setpoint_api", log: benchLog, max: 8 });
const administration = new Database({ url, role: "setpoint_admin", log: benchLog, max: 4 });
cleanup.defer(() => Promise.all([database.end(), administration.end()]).then(() => undefined));
const ids = createSystemIds();
const signals = cleanup.use(new PostgresSignalSender({ url, clock: systemClock, log: benchLog }));
const { sealer, followSealed } = cleanup.use(
  startHousekeeping({ administration, clock: systemClock, log: benchLog, retention: false, appends: true }),
);
const ports = {
  secretBox: new RootKeyBox(new Uint8Array(32).fill(7)),
  secretRandom: systemSecretRandom,
  mailer: undefined,
  clock: systemClock,
  ids,
  log: benchLog,
};
const stored = await composeContext(
  {
    config: { signUp: false, publicUrl: undefined, port: 0, verifyOrganizations: false },
    operatorToken,
    version: "bench",
    kinds,
    database,
    administration,
    ports,
    poke: (shards, due) => signals.send(signalOf(shards, due)),
    logged: () => sealer.poke(),
  },
  cleanup,
);
followSealed(() => stored.watches.poke());
const app = createApp({
  ...stored,
  notifications: new PostgresNotificationStore({ database, administration, ids }),
  webhooks: createWebhookSender({ allowPrivate: [] }),
  // One caller asks for everything here; what he may ask per second is not what is measured.
  limits: { ...defaultRequestLimits, rate: { perSecond: 1_000_000, burst: 1_000_000 } },
  services: async () => [],
  console: readConsole(),
  metrics: async () => "",
});
const origin = await app.listen({ host: "127.0.0.1", port: 0 });
cleanup.defer(() => app.close());
// What was appended is sealed here too: whoever follows the log costs the one as much as the other.
const floor = new FloorWriter(database, ids, () => sealer.poke());

const calls = {
  ready: (): string => origin,
  /** The same durable rows by plain SQL, as many at a time. */
  floor: (options: { readonly count: number; readonly atOnce: number; readonly name: string }): Promise<number> =>
    floor.write(options),
  /** Seals what is left, so that one measurement does not pay for another. */
  sealed: async (): Promise<void> => {
    while ((await administration.run("platform", call(anyUnsealed))).length > 0) await sealer.sealAll();
  },
  /** How long it takes to decide, one by one, for somebody with so many roles at scopes. */
  can: (options: { readonly grants: number; readonly questions: number }): Float64Array => decide(options),
};
export type ApiCalls = typeof calls;

function decide({ grants, questions }: { readonly grants: number; readonly questions: number }): Float64Array {
  const rules = [{ key: "project.dns_zone", actions: ["read", "update"] as const }];
  const caller: Caller = {
    principal: { name: "bench", type: "machine" },
    personId: undefined,
    credential: { type: "service-token", id: "bench" },
    bindings: Array.from({ length: grants }, (_, index) => ({
      organizationId,
      scope: projectScopeOf(organization, `project-${index}`),
      role: "member",
      rules,
    })),
    within: undefined,
    provenAtMs: 0,
  };
  const tookUs = new Float64Array(questions);
  let allowed = 0;
  for (let question = 0; question < questions; question++) {
    const project = `project-${(question * 7919) % (2 * grants)}`;
    const startedNs = process.hrtime.bigint();
    const path = scopePathOf({ organization, project });
    if (can(caller, "project.dns_zone", question % 2 === 0 ? "update" : "delete", path).allowed) allowed++;
    tookUs[question] = Number(process.hrtime.bigint() - startedNs) / 1e3;
  }
  if (allowed === 0 || allowed === questions) throw new Error("Every question was answered alike; nothing was decided");
  return tookUs;
}

answerCalls(calls, () => cleanup.disposeAsync());
