import { absentId, fill, urlOf } from "../api/matrix/requests.ts";
import { organizationPath, type Place, projectPath } from "../api/matrix/workshop.ts";
import type { Route } from "../../src/control-api/route.ts";
import type { SeededRandom } from "../sim/random.ts";
import type { Stage } from "./stage.ts";
import { validValue } from "./valid-value.ts";
import type { Received, Sent } from "./wire.ts";

/** Sends a request, and throws when its answer is not one that may ever be given. */
export type Send = (sent: Sent, route?: Route) => Promise<Received>;

/** What a sequence found wrong; undefined when nothing. */
type Sequence = (stage: Stage, random: SeededRandom, send: Send) => Promise<string | undefined>;

export const sequences: Readonly<Record<string, Sequence>> = {
  "use after deletion": useAfterDeletion,
  "children of a parent that is gone": childrenOfTheGone,
  "another tenant's names": anothersNames,
  "another tenant's ids": anothersIds,
};

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const payload = (body: unknown) =>
  body === undefined
    ? { headers: {}, body: undefined }
    : { headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(body)) };

/** Whatever can be deleted is deleted; then nothing of it answers as if it were there. */
async function useAfterDeletion(stage: Stage, random: SeededRandom, send: Send): Promise<string | undefined> {
  const removing = stage.routes.filter(
    ({ method, path }) =>
      method === "DELETE" &&
      /^\/v1\/organizations\/\{organization\}\/.*\{(id|role|secret|invite|token|person)\}$/.test(path),
  );
  const route = random.pick(removing);
  const filled = route === undefined ? undefined : await attempt(() => fill(stage.workshop, route, stage.ours));
  if (route === undefined || filled === undefined) return undefined;
  const path = urlOf(route, stage.ours, filled);
  const headers = bearer(stage.cast.operator);
  const deleted = await send({ method: "DELETE", path, headers, body: undefined }, route);
  if (deleted.status >= 300) return undefined;
  for (const other of stage.routes.filter((it) => it.path.startsWith(route.path) && it.method !== "PUT")) {
    const { body, headers: typed } = payload(bodyFor(stage, random, other));
    const url = `${path}${other.path.slice(route.path.length).replaceAll(/\{\w+\}/g, absentId)}`;
    const answer = await send({ method: other.method, path: url, headers: { ...headers, ...typed }, body }, other);
    // Saying twice that something should be gone is fine.
    if (answer.status < 300 && other.method !== "DELETE" && !isEnded(answer.text))
      return `${other.method} ${url} was answered with ${answer.status} after it was deleted: ${answer.text.slice(0, 300)}`;
  }
  return undefined;
}

/** A token that was revoked is still listed, as what it is. */
function isEnded(text: string): boolean {
  return /"(state|status)":"(revoked|ended|deleted)"|"endedAt"/.test(text);
}

/** A project goes, and with it every address below it. */
async function childrenOfTheGone(stage: Stage, random: SeededRandom, send: Send): Promise<string | undefined> {
  const project = stage.workshop.fresh("going");
  const place: Place = { ...stage.ours, project };
  const headers = bearer(stage.cast.operator);
  const made = await send({
    method: "POST",
    path: `${organizationPath(place)}/projects`,
    headers: { ...headers, "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ name: project })),
  });
  if (made.status !== 201) return undefined;
  const deleted = await send({ method: "DELETE", path: projectPath(place), headers, body: undefined });
  if (deleted.status >= 300) return undefined;
  const below = stage.routes.filter(({ path }) => path.includes("/projects/{project}/"));
  for (let times = 0; times < 6; times++) {
    const route = random.pick(below);
    if (route === undefined) return undefined;
    const { body, headers: typed } = payload(bodyFor(stage, random, route));
    const path = urlOf(route, place, { names: { name: "zone" } });
    const apply = route.bodyType === undefined ? {} : { "content-type": route.bodyType };
    const answer = await send({ method: route.method, path, headers: { ...headers, ...typed, ...apply }, body }, route);
    if (answer.status < 300)
      return `${route.method} ${path} was answered with ${answer.status} below a project that was deleted`;
  }
  return undefined;
}

/** Our owner at another tenant's address: the same words as for one that was never given. */
async function anothersNames(stage: Stage, random: SeededRandom, send: Send): Promise<string | undefined> {
  const route = random.pick(
    stage.routes.filter(({ path, need }) => path.includes("{organization}") && need.at !== "platform"),
  );
  const filled = route === undefined ? undefined : await attempt(() => fill(stage.workshop, route, stage.theirs));
  if (route === undefined || filled === undefined) return undefined;
  const nowhere: Place = { ...stage.theirs, organization: "nowhere-at-all" };
  const ask = (place: Place) => {
    const { body, headers } = payload(filled.body);
    const all = { ...bearer(stage.cast.owner), ...headers, ...filled.headers };
    return send({ method: route.method, path: urlOf(route, place, filled), headers: all, body }, route);
  };
  const [theirs, absent] = [await ask(stage.theirs), await ask(nowhere)];
  if (theirs.status < 300) return `${route.method} ${route.path} of another tenant was answered with ${theirs.status}`;
  const [seen, expected] = [plain(theirs, stage.theirs.organization), plain(absent, nowhere.organization)];
  return seen === expected
    ? undefined
    : `${route.method} ${route.path} of another tenant is answered with ${seen}, and one that does not exist with ${expected}`;
}

/** Another tenant's ids under our own address: like ids that were never given. */
async function anothersIds(stage: Stage, random: SeededRandom, send: Send): Promise<string | undefined> {
  const withIds = stage.routes.filter(({ path }) =>
    /^\/v1\/organizations\/\{organization\}.*\{(id|invite|token|person|binding)\}/.test(path),
  );
  const route = random.pick(withIds);
  const filled = route === undefined ? undefined : await attempt(() => fill(stage.workshop, route, stage.theirs));
  if (route === undefined || filled?.names === undefined) return undefined;
  const blank = Object.fromEntries(Object.keys(filled.names).map((name) => [name, absentId]));
  const ask = (names: Readonly<Record<string, string>>) => {
    const { body, headers } = payload(filled.body);
    const path = urlOf(route, stage.ours, { ...filled, names });
    return send({ method: route.method, path, headers: { ...bearer(stage.cast.owner), ...headers }, body }, route);
  };
  const [theirs, absent] = [await ask(filled.names), await ask(blank)];
  const forget = (text: string) =>
    Object.values(filled.names ?? {}).reduce((left, id) => left.replaceAll(id, absentId), text);
  const [seen, expected] = [forget(plain(theirs, "")), plain(absent, "")];
  return seen === expected
    ? undefined
    : `${route.method} ${route.path} with ids of another tenant is answered with ${seen}, and with absent ones ${expected}`;
}

function bodyFor(stage: Stage, random: SeededRandom, route: Route): unknown {
  const operation = stage.document.paths[route.path]?.[route.method.toLowerCase()];
  const schema = Object.values(operation?.requestBody?.content ?? {})[0]?.schema;
  return schema === undefined ? undefined : validValue(schema, stage.document, random);
}

/** What of an answer must not differ: all but the request's id and the name that was asked for. */
function plain({ status, headers, text }: Received, organization: string): string {
  const body = text.replace(/"requestId":"[^"]*"/, "");
  const named = organization === "" ? body : body.replaceAll(organization, "NAME");
  return `${status} ${String(headers["content-type"])} ${named}`;
}

async function attempt<Value>(make: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await make();
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message.startsWith("Preparing ") && !/"status":5\d\d/.test(thrown.message))
      return undefined;
    throw thrown;
  }
}
