import { newSession } from "../../src/control-api/identity/identity.ts";
import type { PlatformRole } from "../../src/ports/identity-store.ts";
import type { Answer, TestApi } from "./api.ts";

/** Somebody who is signed in. */
export interface TestPerson {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly sessionId: string;
  send(method: Parameters<TestApi["send"]>[0], url: string, body?: unknown): Promise<Answer>;
}

const origin = { requestId: "test", address: "127.0.0.1", userAgent: "test", secure: false };

/** Makes a person and a session of theirs, without the cost of a password. */
export async function signedIn(
  api: TestApi,
  email: string,
  options: { readonly platformRole?: PlatformRole } = {},
): Promise<TestPerson> {
  const { identity, ids } = api.context;
  const author = { name: "test", type: "person" } as const;
  const { platformRole = "none" } = options;
  const made = { id: ids.next(), email, name: email, passwordHash: undefined, platformRole, verified: true };
  const person = await identity.store.createPerson({ person: made, author });
  if (person === undefined) throw new Error(`There is somebody called ${email} already`);
  const { token, session } = newSession(identity, origin, undefined);
  await identity.store.openSession({ personId: person.id, session, how: "test", author });
  return {
    id: person.id,
    email,
    token,
    sessionId: session.id,
    send: (method, url, body) => api.send(method, url, body, { authorization: `Bearer ${token}` }),
  };
}

/** Somebody who belongs to an organization with some roles: `admin`, or `member` in the project `web`. */
export async function memberOf(
  api: TestApi,
  organization: string,
  email: string,
  bindings: readonly { readonly role: string; readonly project?: string; readonly workspace?: string }[],
): Promise<TestPerson> {
  const person = await signedIn(api, email);
  const invited = await api.send("POST", `/v1/organizations/${organization}/invites`, { email, bindings });
  if (invited.status !== 201) throw new Error(`Inviting ${email} was answered with ${JSON.stringify(invited.body)}`);
  const accepted = await person.send("POST", "/v1/invites/accept", { secret: invited.body["secret"] });
  if (accepted.status !== 200) throw new Error(`Accepting was answered with ${JSON.stringify(accepted.body)}`);
  return person;
}
