import assert from "node:assert/strict";
import type { TestApi } from "./api.ts";

export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
}

type Method = "GET" | "PUT" | "POST" | "DELETE";

/** One request with whatever headers are given, and no token unless one is among them. */
export async function ask(
  api: Pick<TestApi, "app">,
  method: Method,
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  remoteAddress = "127.0.0.1",
): Promise<Reply> {
  const answer = await api.app.inject({
    method,
    url,
    remoteAddress,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  const text = answer.body;
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

export interface SignedInPerson {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  send(method: Method, url: string, body?: unknown): Promise<Reply>;
}

export const goodPassword = "tall giraffes hum quietly";

let people = 0;

/** A person with a password and a session of their own. Each comes from elsewhere: one address signs up few. */
export async function newPerson(api: TestApi, email: string, password: string = goodPassword): Promise<SignedInPerson> {
  const address = `10.0.${Math.floor(people / 250)}.${(people++ % 250) + 1}`;
  const signedUp = await ask(api, "POST", "/v1/sign-up", { email, name: "Somebody", password }, {}, address);
  assert.equal(signedUp.status, 202, JSON.stringify(signedUp.body));
  return await signedIn(api, { email, password });
}

export async function signedIn(
  api: TestApi,
  given: { readonly email: string; readonly password: string; readonly code?: string },
): Promise<SignedInPerson> {
  const answer = await ask(api, "POST", "/v1/session", { ...given, as: "token" });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  const token = String(answer.body["token"]);
  const { id, email } = answer.body["person"] as { id: string; email: string };
  const send: SignedInPerson["send"] = (method, url, body) =>
    ask(api, method, url, body, { authorization: `Bearer ${token}` });
  return { id, email, token, send };
}
