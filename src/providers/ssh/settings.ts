import { z } from "zod";

/** An account of provider `ssh` is a private key and nothing else: who signs in where is said by whoever uses it. */
export const sshSettingsSchema = z.strictObject({});
