import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { BackupError } from "./backup-error.ts";
import type { ByteReader } from "./byte-reader.ts";

const chunkBytes = 64 * 1024;
const tagBytes = 16;
const framing = { more: 0, last: 1 } as const;

/**
 * Encrypts a stream in chunks that can be read one by one. Each chunk is bound to the file's header, its number, and
 * whether it is the last one: chunks cannot be changed, moved, left out or cut off.
 */
export async function* seal(
  plain: AsyncIterable<Uint8Array>,
  key: Buffer,
  header: string,
): AsyncGenerator<Buffer, void, undefined> {
  let pending = Buffer.alloc(0);
  let number = 0;
  for await (const part of plain) {
    pending = pending.length === 0 ? Buffer.from(part) : Buffer.concat([pending, part]);
    while (pending.length > chunkBytes) {
      yield sealed(pending.subarray(0, chunkBytes), { key, header, number, frame: framing.more });
      pending = pending.subarray(chunkBytes);
      number++;
    }
  }
  yield sealed(pending, { key, header, number, frame: framing.last });
}

/** The stream that was sealed. Throws where the file is not what was written. */
export async function* unseal(
  reader: ByteReader,
  key: Buffer,
  header: string,
): AsyncGenerator<Buffer, void, undefined> {
  for (let number = 0; ; number++) {
    const start = await reader.take(5);
    const frame = start[0] ?? -1;
    const length = start.readUInt32BE(1);
    if ((frame !== framing.more && frame !== framing.last) || length < tagBytes || length > chunkBytes + tagBytes)
      throw damaged(number);
    const sealedChunk = await reader.take(length);
    yield opened(sealedChunk, { key, header, number, frame });
    if (frame === framing.last) break;
  }
  if (!(await reader.ended())) throw new BackupError("There is something behind the end of the backup: it is damaged");
}

/** The bytes up to the end of the first chunk, from its start on; at most this many. */
export const firstChunkBytesAtMost = 5 + chunkBytes + tagBytes;

/** Whether a key opens the first chunk, which is there in any file. */
export function opensFirst(bytes: Buffer, key: Buffer, header: string): boolean {
  if (bytes.length < 5) return false;
  const frame = bytes.readUInt8(0);
  const length = bytes.readUInt32BE(1);
  if (length < tagBytes || bytes.length < 5 + length) return false;
  try {
    opened(bytes.subarray(5, 5 + length), { key, header, number: 0, frame });
    return true;
  } catch (thrown) {
    if (thrown instanceof BackupError) return false;
    throw thrown;
  }
}

/** The key of one file: it follows from the root key, which is not in the file. */
export function fileKey(rootKey: Buffer, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", rootKey, salt, "setpoint backup", 32));
}

interface ChunkPlace {
  readonly key: Buffer;
  readonly header: string;
  readonly number: number;
  readonly frame: number;
}

function sealed(plain: Buffer, { key, header, number, frame }: ChunkPlace): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonceOf(number));
  cipher.setAAD(placeOf(header, number, frame));
  const body = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const start = Buffer.alloc(5);
  start.writeUInt8(frame, 0);
  start.writeUInt32BE(body.length, 1);
  return Buffer.concat([start, body]);
}

function opened(chunk: Buffer, { key, header, number, frame }: ChunkPlace): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(number), { authTagLength: tagBytes });
  decipher.setAAD(placeOf(header, number, frame));
  decipher.setAuthTag(chunk.subarray(chunk.length - tagBytes));
  try {
    return Buffer.concat([decipher.update(chunk.subarray(0, chunk.length - tagBytes)), decipher.final()]);
  } catch (thrown) {
    throw damaged(number, thrown);
  }
}

function damaged(number: number, cause?: unknown): BackupError {
  const where = `about ${Math.round((number * chunkBytes) / 1024)} KiB into it`;
  return new BackupError(`The backup cannot be read ${where}: it is damaged`, { cause });
}

/** The key is used for this file alone, so that a counter is a nonce. */
function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 4);
  return nonce;
}

function placeOf(header: string, number: number, frame: number): Buffer {
  return createHash("sha256").update(`${header}\n${number}\n${frame}`).digest();
}
