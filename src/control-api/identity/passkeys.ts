import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import type { Passkey, Person } from "../../ports/identity-store.ts";
import { Problem } from "../problem.ts";
import type { PasskeyAnswer, PasskeyRegistration } from "../schemas/identity.ts";
import type { Identity } from "./identity.ts";

const challengeLastsMs = 5 * 60_000;
const mostPasskeys = 20;

type Headers = Readonly<Record<string, string | undefined>>;
type Purpose = "register" | "sign-in" | "prove";

/** Needed by few processes and seldom: it would double the time the API takes to start. */
const library = () => import("@simplewebauthn/server");

/** For whom passkeys are made: the public address, or `localhost` where there is none. Browsers know no others. */
function relyingParty(identity: Identity, headers: Headers): { readonly id: string; readonly origin: string } {
  const { publicUrl } = identity;
  if (publicUrl !== undefined) return { id: new URL(publicUrl).hostname, origin: publicUrl };
  const host = headers["host"] ?? "";
  if (/^localhost(:\d+)?$/.test(host)) return { id: "localhost", origin: `http://${host}` };
  throw new Problem(
    "FORBIDDEN",
    `Passkeys belong to a name, and this server was asked as "${host}". On this machine use http://localhost:${identity.port}; elsewhere set SETPOINT_PUBLIC_URL`,
  );
}

async function challengeFor(identity: Identity, purpose: Purpose, personId: string | undefined): Promise<string> {
  const challenge = Buffer.from(identity.secretRandom.bytes(32)).toString("base64url");
  await identity.store.addChallenge({ challenge, purpose, personId, forMs: challengeLastsMs });
  return challenge;
}

/** What the browser's `navigator.credentials.create` is given. */
export async function registrationOptions(identity: Identity, person: Person, headers: Headers): Promise<unknown> {
  const { generateRegistrationOptions } = await library();
  const known = await identity.store.listPasskeys(person.id);
  const challenge = await challengeFor(identity, "register", person.id);
  return await generateRegistrationOptions({
    rpName: "Setpoint",
    rpID: relyingParty(identity, headers).id,
    userName: person.email,
    userDisplayName: person.name,
    userID: new Uint8Array(Buffer.from(person.id)),
    challenge: new Uint8Array(Buffer.from(challenge, "base64url")),
    excludeCredentials: known.map(({ id }) => ({ id })),
    // Kept on the key, so that signing in needs no e-mail; verified there, so that it is two factors at once.
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    attestationType: "none",
  });
}

export async function registeredPasskey(
  identity: Identity,
  person: Person,
  given: PasskeyRegistration,
  headers: Headers,
): Promise<Omit<Passkey, "createdAtMs" | "lastUsedAtMs">> {
  const party = relyingParty(identity, headers);
  if ((await identity.store.listPasskeys(person.id)).length >= mostPasskeys)
    throw new Problem("QUOTA_EXCEEDED", `A person has at most ${mostPasskeys} passkeys: remove one first`);
  const expectedChallenge = await takenChallenge(
    identity,
    given.response.response.clientDataJSON,
    "register",
    person.id,
  );
  const { verifyRegistrationResponse } = await library();
  const verified = await verifyRegistrationResponse({
    response: given.response as RegistrationResponseJSON,
    expectedChallenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
  }).catch((thrown: unknown) => notAccepted(thrown));
  if (!verified.verified) return notAccepted(undefined);
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  return {
    id,
    personId: person.id,
    publicKey: Buffer.from(publicKey).toString("base64url"),
    counter,
    relyingParty: party.id,
    transports,
    label: given.label,
  };
}

/** What `navigator.credentials.get` is given. Without a person any passkey made for this server may answer. */
export async function authenticationOptions(
  identity: Identity,
  purpose: "sign-in" | "prove",
  personId: string | undefined,
  headers: Headers,
): Promise<unknown> {
  const { generateAuthenticationOptions } = await library();
  const known = personId === undefined ? [] : await identity.store.listPasskeys(personId);
  const challenge = await challengeFor(identity, purpose, personId);
  return await generateAuthenticationOptions({
    rpID: relyingParty(identity, headers).id,
    challenge: new Uint8Array(Buffer.from(challenge, "base64url")),
    allowCredentials: known.map(({ id }) => ({ id })),
    userVerification: "required",
  });
}

/** The passkey that signed a challenge of ours, if one did. It is used up: neither answer nor challenge works again. */
export async function provenPasskey(
  identity: Identity,
  given: PasskeyAnswer,
  purpose: "sign-in" | "prove",
  personId: string | undefined,
  headers: Headers,
): Promise<Passkey | undefined> {
  const party = relyingParty(identity, headers);
  const challenge = challengeIn(given.response.clientDataJSON);
  const taken = challenge !== undefined && (await identity.store.takeChallenge({ challenge, purpose, personId }));
  const passkey = await identity.store.passkey(given.id);
  if (!taken || passkey === undefined || (personId !== undefined && passkey.personId !== personId)) return undefined;
  const { verifyAuthenticationResponse } = await library();
  const { id, publicKey, counter } = passkey;
  const verified = await verifyAuthenticationResponse({
    response: given as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: passkey.relyingParty,
    credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")), counter },
    requireUserVerification: true,
  }).catch(() => undefined);
  if (verified?.verified !== true) return undefined;
  const used = await identity.store.usePasskey({ id, counter: verified.authenticationInfo.newCounter });
  return used ? passkey : undefined;
}

async function takenChallenge(
  identity: Identity,
  clientData: string,
  purpose: Purpose,
  personId: string,
): Promise<string> {
  const challenge = challengeIn(clientData);
  if (challenge !== undefined && (await identity.store.takeChallenge({ challenge, purpose, personId })))
    return challenge;
  return notAccepted("the challenge is not one of ours, was used, or is older than five minutes");
}

function challengeIn(clientData: string): string | undefined {
  try {
    const parsed = JSON.parse(Buffer.from(clientData, "base64url").toString("utf8")) as unknown;
    const challenge =
      typeof parsed === "object" && parsed !== null && "challenge" in parsed ? parsed.challenge : undefined;
    return typeof challenge === "string" ? challenge : undefined;
  } catch {
    return undefined;
  }
}

function notAccepted(thrown: unknown): never {
  const reason = thrown instanceof Error ? thrown.message : typeof thrown === "string" ? thrown : "it does not verify";
  throw new Problem("FIELDS_INVALID", `This passkey cannot be accepted: ${reason}. Start over with a new challenge`, {
    errors: [{ pointer: "/response", message: reason }],
  });
}
