import type { DeclaredResource } from "../ports/records.ts";
import type { Part } from "./loop.ts";

/** What of a kind names a subject, whether it goes or stays. */
export function partsOf(inputs: readonly DeclaredResource[], kind: string): readonly Part[] {
  return inputs
    .filter((resource) => resource.kind === kind)
    .map(({ uid, name, deletion }) => ({ uid, name, leaving: deletion !== undefined }));
}
