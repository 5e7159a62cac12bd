import { loopsSchema, type LoopsDocument } from "../control-api/schemas/platform.ts";
import type { ApiClient } from "./api-client.ts";
import { usageError } from "./cli-error.ts";

export type KnownKind = LoopsDocument["kinds"][number];

export async function knownKinds(client: ApiClient): Promise<readonly KnownKind[]> {
  return loopsSchema.parse(await client.get("/v1/loops")).kinds;
}

/** `DnsZone`, `dnszone` and `dnszones` all mean the same kind. */
export async function findKind(client: ApiClient, word: string): Promise<KnownKind> {
  const kinds = await knownKinds(client);
  const wanted = word.toLowerCase();
  const kind = kinds.find((entry) => entry.kind.toLowerCase() === wanted || entry.plural === wanted);
  if (kind !== undefined) return kind;
  throw usageError(`There is no kind "${word}". Kinds: ${kinds.map((entry) => entry.kind.toLowerCase()).join(", ")}`);
}

/** Splits KIND/NAME. */
export function splitTarget(target: string): { readonly kind: string; readonly name: string } {
  const [kind = "", name = "", ...rest] = target.split("/");
  if (kind === "" || name === "" || rest.length > 0)
    throw usageError(`"${target}" must be KIND/NAME, such as dnszone/example`);
  return { kind, name };
}
