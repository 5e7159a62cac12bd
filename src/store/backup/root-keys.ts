import { BackupError } from "./backup-error.ts";
import type { BackupHeader } from "./manifest.ts";
import { fileKey, opensFirst } from "./sealed-chunks.ts";

/** A root key, and what it is called where nobody may see it. */
export interface NamedRootKey {
  readonly id: string;
  readonly key: Buffer;
}

/** The key of this file, from the root key that the file names. One that names none was made before they did: each is tried. */
export function keyOfFile(
  about: { readonly file: string; readonly header: BackupHeader; readonly text: string; readonly first: Buffer },
  rootKeys: readonly NamedRootKey[],
): Buffer {
  const { file, header, text, first } = about;
  const salt = Buffer.from(header.salt, "base64");
  if (header.rootKeyId === undefined) {
    const fitting = rootKeys.map(({ key }) => fileKey(key, salt)).find((key) => opensFirst(first, key, text));
    if (fitting !== undefined) return fitting;
    throw new BackupError(
      `${file} cannot be read: it is damaged, or it was made under another root key than ${idsOf(rootKeys)}. ${advice}`,
    );
  }
  const named = rootKeys.find(({ id }) => id === header.rootKeyId);
  if (named !== undefined) return fileKey(named.key, salt);
  throw new BackupError(
    `${file} was made under the root key ${header.rootKeyId}, and here there is ${idsOf(rootKeys)}. ${advice}`,
  );
}

const advice =
  "Put the missing key as a further line behind the others into root.key, or behind a comma into SETPOINT_ROOT_KEY";

function idsOf(rootKeys: readonly NamedRootKey[]): string {
  return rootKeys.map(({ id }) => id).join(", ");
}
