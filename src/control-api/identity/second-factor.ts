import type { PersonProofs } from "../../ports/identity-store.ts";
import type { Principal } from "../../ports/records.ts";
import { codeLimits } from "./attempt-limits.ts";
import { type Identity, takeAttempts } from "./identity.ts";
import { recoveryCodeHash } from "./recovery-codes.ts";
import { fromBase32, totpStepOf } from "./totp.ts";

export function totpBinding(personId: string): string {
  return `totp/${personId}`;
}

/**
 * Uses up a code of the person's app, or one of their recovery codes. Undefined: it is neither, or was used before.
 * Which of the two it is follows from its form.
 */
export async function useCode(
  identity: Identity,
  { person, hasTotp }: PersonProofs,
  code: string,
  author: Principal,
): Promise<"code" | "recovery code" | undefined> {
  if (!hasTotp) return undefined;
  const limits = codeLimits(person.id);
  await takeAttempts(identity, limits);
  const plain = code.replace(/\s/g, "");
  const used = /^\d{6}$/.test(plain)
    ? await useTotp(identity, person.id, plain)
    : await useRecovery(identity, person.id, plain, author);
  if (used !== undefined) await identity.store.clearAttempts(limits.map(({ bucket }) => bucket));
  return used;
}

async function useTotp(identity: Identity, personId: string, code: string): Promise<"code" | undefined> {
  const kept = await identity.store.totp(personId);
  if (kept === undefined || !kept.confirmed) return undefined;
  const secret = await identity.secretBox.open(kept.sealedSecret, totpBinding(personId));
  const step = totpStepOf(fromBase32(secret), code, identity.clock.nowMs());
  if (step === undefined) return undefined;
  return (await identity.store.useTotpStep({ personId, step })) ? "code" : undefined;
}

async function useRecovery(
  identity: Identity,
  personId: string,
  code: string,
  author: Principal,
): Promise<"recovery code" | undefined> {
  const codeHash = recoveryCodeHash(code);
  return (await identity.store.useRecoveryCode({ personId, codeHash, author })) ? "recovery code" : undefined;
}
