import { epochMsOf } from "../../kernel/iso-time.ts";
import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import type { CloudRoom, ServerSize } from "../../ports/compute.ts";
import type { Json } from "../../ports/json.ts";
import { capabilitiesAt } from "./capabilities.ts";
import { catalogueIn, type KeptCatalogue, roomIn } from "./catalogue-report.ts";
import { offeredWords } from "./nearest.ts";

/** The catalogue is read every hour. One that was not for so long may have become another. */
const believedForMs = 3 * 3_600_000;

/** What servers are made of, and how many there may be. */
export interface WantedServers {
  readonly type: string | undefined;
  readonly image: string;
  readonly location: string;
  readonly count: number;
}

/** Where the spec says so. */
export interface Pointers {
  readonly type: string;
  readonly image: string;
  readonly location: string;
  readonly count: string;
}

/**
 * Why the provider has no such servers, by what the loop of the account last saw of its catalogue. What nobody has looked at lately,
 * what came in part, and what was seen in another account refuse nothing. Neither does what stands: a server that is there stays
 * declared, whatever can still be ordered.
 */
export async function offeredProblems(
  around: Surroundings,
  account: string,
  wanted: WantedServers,
  told: { readonly at: Pointers; standing(spec: unknown): WantedServers | undefined },
): Promise<readonly FieldProblem[]> {
  const known = await knownOf(around, account);
  if (known === undefined) return [];
  const { catalogue, room, nowMs, whose } = known;
  const roomFor = (stands: WantedServers | undefined) =>
    roomProblems(room, known.sizeOf, { wanted, stands, at: told.at });
  const missing = catalogueProblems(catalogue, wanted, told.at, nowMs);
  if (missing.length === 0 && roomFor(undefined).length === 0) return [];
  // Only who is about to be refused is worth another read.
  const stands = told.standing(await around.standing?.());
  return saidOf([...(isAsItStands(wanted, stands) ? [] : missing), ...roomFor(stands)], whose);
}

/** Why there is no such place, for what is only somewhere; what stands there stays. */
export async function placeProblems(
  around: Surroundings,
  account: string,
  location: string,
  standing: (spec: unknown) => string | undefined,
): Promise<readonly FieldProblem[]> {
  const known = await knownOf(around, account);
  if (known === undefined) return [];
  const missing = locationProblems(known.catalogue, { location }, { location: "/spec/location" });
  if (missing.length === 0 || standing(await around.standing?.()) === location) return [];
  return saidOf(missing, known.whose);
}

/** Why no server of this type can be had there, or anywhere; a profile that stands as it is, stays. */
export async function typeOfferedProblems(
  around: Surroundings,
  account: string,
  wanted: OfferedType,
  standing: (spec: unknown) => OfferedType | undefined,
): Promise<readonly FieldProblem[]> {
  const known = await knownOf(around, account);
  if (known === undefined) return [];
  const { catalogue, nowMs, whose } = known;
  const { type, locations } = wanted;
  const unknown = unknownType(catalogue, type, "/spec/type");
  const missing =
    unknown.length > 0
      ? unknown
      : locations.flatMap((location, index) => {
          const at = { type: `/spec/locations/${index}`, location: `/spec/locations/${index}` };
          const place = locationProblems(catalogue, { location }, at);
          return place.length > 0 ? place : typeProblemsIn(catalogue, { type, location }, at, nowMs);
        });
  if (missing.length === 0) return [];
  const stands = standing(await around.standing?.());
  const isAsBefore = stands?.type === type && locations.every((location) => stands.locations.includes(location));
  return isAsBefore ? [] : saidOf(missing, whose);
}

export interface OfferedType {
  readonly type: string;
  readonly locations: readonly string[];
}

function saidOf(problems: readonly FieldProblem[], whose: string): readonly FieldProblem[] {
  return problems.map(({ pointer, message }) => ({ pointer, message: `${message} (${whose})` }));
}

/** Another type, image or location is another server, for which all of them must be there. */
function isAsItStands(wanted: WantedServers, stands: WantedServers | undefined): boolean {
  return (["type", "image", "location"] as const).every((field) => wanted[field] === stands?.[field]);
}

async function knownOf(around: Surroundings, account: string) {
  const found = await around.account(account);
  const reported = found === undefined ? undefined : await around.reported?.("ComputeProvider", account);
  if (found === undefined || reported === undefined) return undefined;
  const { nowMs, reports } = reported;
  const isOfIt = (catalogue: KeptCatalogue) =>
    (found.fingerprint ?? catalogue.account) === catalogue.account && isFresh(catalogue, nowMs);
  const believed = reports.flatMap((report) => {
    const catalogue = catalogueIn(report);
    return catalogue !== undefined && isOfIt(catalogue) ? [{ catalogue, room: roomOf(report, catalogue) }] : [];
  });
  const [newest] = believed.toSorted((left, right) => (left.catalogue.at > right.catalogue.at ? -1 : 1));
  if (newest === undefined) return undefined;
  const names = (await capabilitiesAt(around, account))?.serverTypeNames;
  const sizeOf = (type: string) => names?.sizeOf(type);
  return { ...newest, nowMs, sizeOf, whose: `the provider ${found.provider} of account "${account}"` };
}

function roomOf(report: Json, { account }: KeptCatalogue): CloudRoom | undefined {
  const room = roomIn(report);
  return room?.account === account ? room : undefined;
}

function isFresh({ at }: KeptCatalogue, nowMs: number): boolean {
  const ageMs = nowMs - epochMsOf(at);
  return ageMs >= 0 && ageMs <= believedForMs;
}

function catalogueProblems(
  catalogue: KeptCatalogue,
  wanted: WantedServers,
  at: Pointers,
  nowMs: number,
): readonly FieldProblem[] {
  const place = locationProblems(catalogue, wanted, at);
  return [
    ...place,
    ...(place.length > 0 ? [] : typeProblemsIn(catalogue, wanted, at, nowMs)),
    ...imageProblems(catalogue, wanted, at),
  ];
}

/** What is named by an id may be somebody's own, and newer than every list. */
function isId(name: string): boolean {
  return /^\d+$|^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(name);
}

function locationProblems(
  { locations }: KeptCatalogue,
  { location }: Pick<WantedServers, "location">,
  at: Pick<Pointers, "location">,
): FieldProblem[] {
  if (locations === undefined || isId(location) || locations.includes(location)) return [];
  const next = locations.length === 0 ? "Make one at the provider first" : "Name one of them";
  const message = `there is no location "${location}"; ${offeredWords(location, locations)}. ${next}`;
  return [{ pointer: at.location, message }];
}

function unknownType({ types }: KeptCatalogue, type: string, pointer: string): FieldProblem[] {
  const all = types?.flatMap(({ names }) => names);
  if (all === undefined || all.includes(type)) return [];
  return [{ pointer, message: `there is no server type "${type}"; ${offeredWords(type, all)}. Name one of them` }];
}

function typeProblemsIn(
  catalogue: KeptCatalogue,
  { type, location }: Pick<WantedServers, "type" | "location">,
  at: Pick<Pointers, "type" | "location">,
  nowMs: number,
): FieldProblem[] {
  const { types } = catalogue;
  if (types === undefined || type === undefined) return [];
  const unknown = unknownType(catalogue, type, at.type);
  if (unknown.length > 0) return unknown;
  const groups = types.filter(({ names }) => names.includes(type));
  const isOver = ({ until }: { readonly until?: string | undefined }) =>
    until !== undefined && epochMsOf(until) <= nowMs;
  const orderable = groups.filter((group) => !isOver(group)).flatMap((group) => group.locations);
  if (orderable.includes(location)) return [];
  const ended = groups.find((group) => isOver(group) && group.locations.includes(location))?.until;
  const why = ended === undefined ? "is not offered" : `cannot be ordered any more, since ${ended.slice(0, 10)},`;
  const elsewhere =
    orderable.length === 0
      ? "It is in no location: name another type"
      : `It is in: ${orderable.toSorted().join(", ")}. Name one of them, or another type`;
  const pointer = orderable.length === 0 ? at.type : at.location;
  return [{ pointer, message: `the server type ${type} ${why} in ${location}. ${elsewhere}` }];
}

function imageProblems({ images, types }: KeptCatalogue, { image, type }: WantedServers, at: Pointers): FieldProblem[] {
  if (images === undefined || isId(image)) return [];
  const named = images.filter(({ names }) => names.includes(image));
  const all = images.flatMap(({ names }) => names);
  if (named.length === 0)
    return [
      {
        pointer: at.image,
        message: `there is no image "${image}"; ${offeredWords(image, all)}. Name one of them, or an image of your own by its id`,
      },
    ];
  const needed = types?.find(({ names }) => type !== undefined && names.includes(type))?.architecture;
  const isFor = (architecture: string | undefined) =>
    needed === undefined || architecture === undefined || architecture === needed;
  if (named.some(({ architecture }) => isFor(architecture))) return [];
  const there = images.filter(({ architecture }) => isFor(architecture)).flatMap(({ names }) => names);
  const message = `the image ${image} is not there for ${needed ?? ""}, which ${type ?? "the type"} is; ${offeredWords(image, there)}. Name one of them, or another type`;
  return [{ pointer: at.image, message }];
}

/** What servers take of the account's limits; what the standing declaration may have of them already is its own. */
function roomProblems(
  room: CloudRoom | undefined,
  sizeOf: (type: string) => ServerSize | undefined,
  {
    wanted,
    stands,
    at,
  }: { readonly wanted: WantedServers; readonly stands: WantedServers | undefined; readonly at: Pointers },
): readonly FieldProblem[] {
  const size = wanted.type === undefined ? undefined : sizeOf(wanted.type);
  if (room === undefined || size === undefined) return [];
  const own = stands?.type === undefined ? undefined : sizeOf(stands.type);
  const isAsItStood = stands?.type === wanted.type && wanted.count <= (stands?.count ?? 0);
  if (isAsItStood) return [];
  return (["cores", "memoryGigabytes"] as const).flatMap((what) => {
    const { most, used, mostOfOne } = room[what];
    const unit = units[what];
    const type = wanted.type ?? "";
    if (size[what] > mostOfOne) {
      const message = `the server type ${type} has ${size[what]} ${unit}, and one server may have ${mostOfOne}: name a smaller one, or have the limit raised`;
      return [{ pointer: at.type, message }];
    }
    const needed = size[what] * wanted.count;
    const left = most - used + (own?.[what] ?? 0) * (stands?.count ?? 0);
    if (needed <= left) return [];
    const whatFor = wanted.count === 1 ? `a server of type ${type}` : `${wanted.count} servers of type ${type}`;
    const message = `${whatFor} need ${needed} ${unit}, and ${Math.max(0, left)} of the account's ${most} are left: ask for less, delete what is not needed, or have the limit raised`;
    return [{ pointer: at.count, message }];
  });
}

const units: Readonly<Record<keyof ServerSize, string>> = { cores: "cores", memoryGigabytes: "GB of memory" };
