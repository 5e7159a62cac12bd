import { randomBytes } from "node:crypto";

/** 192 random bits, with a prefix by which scanners of leaked secrets can know it. */
export function newToken(): string {
  return `setpoint_op_${randomBytes(24).toString("base64url")}`;
}
