import { randomBytes } from "node:crypto";
import type { SecretRandom } from "../ports/secret-random.ts";

export const systemSecretRandom: SecretRandom = Object.freeze({ bytes: (count: number) => randomBytes(count) });
