import { query } from "../../support/postgres.ts";
import { signedIn } from "../../support/people.ts";
import { organizationPath, ours, type Workshop } from "./workshop.ts";

/** Whoever asks, by the column of the table: what they send to prove who they are. Several must all be answered alike. */
export type Cast = ReadonlyMap<string, readonly (string | undefined)[]>;

const everything = [{ key: "*", actions: ["read", "create", "update", "delete", "execute"] }];

/** Everybody in the table, in the order of its columns. */
export async function assemble(workshop: Workshop): Promise<Cast> {
  const { api } = workshop;
  const joins = async (name: string, bindings: readonly object[]) =>
    (await workshop.member(ours, `${name}@ours.test`, bindings)).token;
  const owner = await workshop.member(ours, "owner@ours.test", [{ role: "owner" }]);
  const makes = async (type: string) => {
    const body = { type, name: type, expiresInDays: 1, access: [{ rules: everything }] };
    const made = await owner.send("POST", `${organizationPath(ours)}/tokens`, body);
    return { id: String(made.body["id"]), token: String(made.body["token"]) };
  };
  const cast = new Map<string, readonly (string | undefined)[]>([
    ["owner", [owner.token]],
    ["admin", [await joins("admin", [{ role: "admin" }])]],
    ["member", [await joins("member", [{ role: "member" }])]],
    ["auditor", [await joins("auditor", [{ role: "auditor" }])]],
    ["billing", [await joins("billing", [{ role: "billing" }])]],
    ["reader", [await joins("reader", [{ role: "reader" }])]],
    ["project-member", [await joins("project-member", [{ role: "member", project: ours.project }])]],
    ["operator", [(await signedIn(api, "operator@platform.test", { platformRole: "operator" })).token]],
    ["administrator", [(await signedIn(api, "administrator@platform.test", { platformRole: "administrator" })).token]],
    ["service-token", [(await makes("service-token")).token]],
    ["assistant-token", [(await makes("assistant-token")).token]],
    ["anonymous", [undefined]],
  ]);
  const removed = await workshop.member(ours, "removed@ours.test", [{ role: "owner" }]);
  await workshop.make("DELETE", `${organizationPath(ours)}/members/${removed.id}`);
  cast.set("removed", [removed.token]);
  cast.set("revoked", await ended(workshop, await makes("service-token"), "revoked"));
  cast.set("expired", await ended(workshop, await makes("service-token"), "expired"));
  return cast;
}

/** An owner's session and an owner's token that no longer count. */
async function ended(
  workshop: Workshop,
  token: { readonly id: string; readonly token: string },
  how: "revoked" | "expired",
): Promise<readonly string[]> {
  const { url } = workshop.api;
  const person = await workshop.member(ours, `${how}@ours.test`, [{ role: "owner" }]);
  if (how === "revoked") {
    await query(url, "delete from setpoint.session where id = $1", [person.sessionId]);
    await workshop.make("DELETE", `${organizationPath(ours)}/tokens/${token.id}`);
  } else {
    await query(url, "update setpoint.session set ends_at_ms = 1 where id = $1", [person.sessionId]);
    await query(url, "update setpoint.credential set made_at_ms = 1, expires_at_ms = 2 where id = $1", [token.id]);
  }
  workshop.api.context.rights.forget();
  return [person.token, token.token];
}
