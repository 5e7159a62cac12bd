import type { Log } from "../ports/log.ts";
import { Database, type DatabaseRole } from "../store/database.ts";

/** Connections of the roles a process needs, closed together. */
export function openDatabases<Role extends DatabaseRole>(
  url: string,
  log: Log,
  sizes: Readonly<Record<Role, number>>,
): { readonly databases: Readonly<Record<Role, Database>>; readonly end: () => Promise<void> } {
  const roles = Object.entries(sizes) as [Role, number][];
  const databases = Object.fromEntries(
    roles.map(([role, max]) => [role, new Database({ url, role, log, max })]),
  ) as Record<Role, Database>;
  return {
    databases,
    end: async () => {
      await Promise.allSettled(Object.values<Database>(databases).map((database) => database.end()));
    },
  };
}
