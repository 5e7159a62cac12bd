import type { AuditFilter, AuditScope, AuditStore } from "../../src/ports/audit-store.ts";
import type { LogPoint, SealedEntry } from "../../src/ports/read-store.ts";
import { exportLines } from "../../src/control-api/audit/export.ts";
import { chainHash } from "../../src/store/seal-chain.ts";

export const nobody: AuditFilter = {
  actor: undefined,
  type: undefined,
  resource: undefined,
  fromMs: undefined,
  toMs: undefined,
  outcome: undefined,
};

/** A log of two tenants and the platform, sealed like the real one. */
export function makeLog(count: number, actor = "ada@example.org"): readonly SealedEntry[] {
  const lastOf = new Map<string, LogPoint>();
  let previousHash = "";
  return Array.from({ length: count }, (_, index) => {
    const organizationId = ["one", "two", "platform"][index % 3] ?? "one";
    const entry: SealedEntry = {
      incarnation: 1,
      position: index + 1,
      organizationId,
      type: index % 2 === 0 ? "resource.created" : "pause.placed",
      uid: `uid-${index}`,
      revision: index % 2 === 0 ? index : undefined,
      actor,
      data: { name: `n-${index}`, nested: { list: [1, "zwei", null, true] } },
      trail: { type: "person", credential: "session/1", address: "::1", requestId: `r-${index}`, reason: "because" },
      atMs: 1_700_000_000_000 + index,
      tenantLink: lastOf.get(organizationId),
      previousHash,
      hash: "",
    };
    const sealed = { ...entry, hash: chainHash(entry) };
    previousHash = sealed.hash;
    lastOf.set(organizationId, { position: sealed.position, hash: sealed.hash });
    return sealed;
  });
}

export function storeOf(log: readonly SealedEntry[]): AuditStore {
  const of = (scope: AuditScope) =>
    log.filter(({ organizationId }) => scope === "platform" || organizationId === scope.organizationId);
  return {
    list: async () => [],
    page: async ({ scope, filter, afterPosition, upToPosition, limit }) =>
      of(scope)
        .filter(({ position }) => position > afterPosition && position <= upToPosition)
        .filter(({ type }) => filter.type === undefined || type.startsWith(filter.type))
        .slice(0, limit),
    ends: async (scope) => ({ first: of(scope)[0], last: of(scope).at(-1) }),
    noteExport: async () => {},
  };
}

/** The lines of an export, without what ends them. */
export async function exportOf(
  log: readonly SealedEntry[],
  scope: AuditScope,
  filter = nobody,
): Promise<readonly string[]> {
  const store = storeOf(log);
  const { last } = await store.ends(scope);
  const lines: string[] = [];
  for await (const line of exportLines({ store, scope, filter, upTo: last, nowMs: 0 })) lines.push(line.slice(0, -1));
  return lines;
}

export const scopes: readonly AuditScope[] = ["platform", { organizationId: "one" }, { organizationId: "platform" }];
