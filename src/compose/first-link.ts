import type { Config } from "../config.ts";
import { makeLink } from "../control-api/identity/links.ts";
import type { Log } from "../ports/log.ts";
import { systemSecretRandom } from "../runtime/system-secret-random.ts";
import { PostgresIdentityStore } from "../store/identity-store.ts";
import { openDatabases } from "./stores.ts";

/** A link for the first person, as long as there is none. Whoever can read what a start prints owns the machine. */
export async function firstLink(config: Config, url: string, log: Log): Promise<string | undefined> {
  const { databases, end } = openDatabases(url, log, { setpoint_admin: 1 });
  try {
    const store = new PostgresIdentityStore({ administration: databases.setpoint_admin });
    if (await store.hasPeople()) return undefined;
    const { publicUrl, port } = config;
    const author = { name: "setpoint", type: "machine" } as const;
    const about = { purpose: "first-person", person: undefined, author } as const;
    return (await makeLink({ store, publicUrl, port, secretRandom: systemSecretRandom }, about)).url;
  } finally {
    await end();
  }
}
