import { permissionCatalogue } from "../control-api/access/permission-keys.ts";
import { requireCreatable } from "../control-api/access/organization-status.ts";
import { platformRules, seedRules } from "../control-api/access/seed-roles.ts";
import { Problem } from "../control-api/problem.ts";
import type { Engine } from "../kernel/claim.ts";
import { RetryableError } from "../kernel/errors.ts";
import type { KindRegistry } from "../kernel/kind.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Database } from "../store/database.ts";
import { PostgresDeclaringStore } from "../store/declaring-store.ts";
import { PostgresMemberStore } from "../store/member-store.ts";

/** How loops declare resources: by the store of people's own declarations, in organizations where people could create them too. */
export function composeChildren(setup: {
  readonly databases: { readonly setpoint_api: Database; readonly setpoint_admin: Database };
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  readonly ids: Ids;
}): NonNullable<Engine["declaring"]> {
  const { databases, kinds, clock, ids } = setup;
  const stores = { database: databases.setpoint_api, administration: databases.setpoint_admin, ids };
  const catalogue = permissionCatalogue(kinds);
  const roles = { seedRules: seedRules(catalogue), platformRules: platformRules(catalogue) };
  const members = new PostgresMemberStore({ ...stores, ...roles });
  const declaring = new PostgresDeclaringStore(stores);
  return {
    change: async (request) => {
      if (request.changes.some((change) => change.action === "declare" && change.declare.ifRevision === 0))
        await requireCreatable({ members, clock }, request.organizationId).catch(asEngineError);
      return await declaring.change(request);
    },
  };
}

/** The way out is an operator's to open, and nobody tells the loop when it is open. */
function asEngineError(thrown: unknown): never {
  if (!(thrown instanceof Problem)) throw thrown;
  throw new RetryableError("DEPENDENCY_NOT_READY", thrown.message, { ambiguous: false });
}
