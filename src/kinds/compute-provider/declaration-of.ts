import type { SeenDeclaration } from "../../kernel/kind.ts";
import type { CloudServer, CloudThing } from "../../ports/compute.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";
import type { AccountItem } from "./loop.ts";

/** What of a server its Host has to say, so that adopting it changes nothing on it. */
export interface ServerFacts {
  readonly type: string;
  readonly image?: string;
  readonly location: string;
  readonly power: "on" | "off";
  readonly labels: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly protect: boolean;
}

/** Volumes by name, because their ids mean nothing in a spec. One on its way to another state counts as on. */
export function factsOf(server: CloudServer, volumes: readonly CloudThing[]): ServerFacts {
  const { type, image, location, power, labels } = server;
  return {
    type,
    ...(image === undefined ? {} : { image }),
    location,
    power: power === "off" ? "off" : "on",
    labels,
    volumes: volumes.filter(({ id }) => server.volumes.includes(id)).map(({ name }) => name),
    protect: server.protected,
  };
}

/** A server becomes a Host that adopts it, declared just as it is. */
export function declarationOfThing(account: string, { type, name, server }: AccountItem): SeenDeclaration {
  if (server === undefined) return { ok: false, message: `a ${type} is declared by hand, not from the inventory` };
  const { image, ...facts } = server;
  if (image === undefined)
    return { ok: false, message: "the image it was made from is not there any more: declare its Host by hand" };
  const named = resourceNameSchema.safeParse(name);
  if (!named.success)
    return { ok: false, message: `${name} cannot be the name of a Host: rename the server at the provider first` };
  const { type: serverType, location, power, labels, volumes, protect } = facts;
  const spec = {
    account,
    type: serverType,
    image,
    location,
    power,
    labels,
    volumes: [...volumes],
    protect,
    adopt: true,
  };
  return { ok: true, kind: "Host", name, spec };
}
