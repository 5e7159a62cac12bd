import type { AttemptLimit } from "../../ports/identity-store.ts";
import { tokenHash } from "./opaque-token.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/**
 * How often somebody may try. The address comes first: whoever floods us from one place is stopped before they can use up
 * the attempts of the people they name. A person is locked out for minutes by many places together, never for good.
 */
export function signInLimits(email: string, address: string): readonly AttemptLimit[] {
  return [
    limit(["sign-in from", network(address)], { burst: 30, everyMs: 10 * secondMs }),
    limit(["sign-in from for", network(address), email], { burst: 5, everyMs: minuteMs }),
    limit(["sign-in for", email], { burst: 20, everyMs: 5 * minuteMs }),
  ];
}

/** What a success gives back. The address keeps its count: one good password must not pay for many bad ones. */
export function forgivenBySignIn(email: string, address: string): readonly string[] {
  return signInLimits(email, address)
    .slice(1)
    .map(({ bucket }) => bucket);
}

/** Codes have a million values: whoever knows the password gets few guesses. */
export function codeLimits(personId: string): readonly AttemptLimit[] {
  return [limit(["code of", personId], { burst: 5, everyMs: 10 * minuteMs })];
}

export function proofLimits(personId: string): readonly AttemptLimit[] {
  return [limit(["proof of", personId], { burst: 5, everyMs: minuteMs })];
}

/** Mail to one address is rare, so that nobody is flooded by it. */
export function mailLimits(email: string, address: string): readonly AttemptLimit[] {
  return [
    limit(["mail from", network(address)], { burst: 10, everyMs: minuteMs }),
    limit(["mail for", email], { burst: 3, everyMs: 10 * minuteMs }),
  ];
}

export function signUpLimits(email: string, address: string): readonly AttemptLimit[] {
  return [
    limit(["sign-up from", network(address)], { burst: 10, everyMs: 10 * minuteMs }),
    limit(["sign-up for", email], { burst: 3, everyMs: 10 * minuteMs }),
  ];
}

/** Links and passkeys cannot be guessed; this bounds the work. */
export function openLimits(what: string, address: string): readonly AttemptLimit[] {
  return [limit([what, network(address)], { burst: 60, everyMs: 5 * secondMs })];
}

function limit(parts: readonly string[], { burst, everyMs }: Omit<AttemptLimit, "bucket">): AttemptLimit {
  return { bucket: tokenHash(parts.join("\n")), burst, everyMs };
}

/** One IPv6 customer has 2^64 addresses or more: they count as one. */
export function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address;
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? [];
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - behind.length) }, () => "0");
  return `${[...groups, ...(tail === undefined ? [] : zeros), ...behind].slice(0, 4).join(":").toLowerCase()}::/64`;
}
