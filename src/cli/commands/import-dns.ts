import { readFileSync } from "node:fs";
import type { SeenItemDocument } from "../../control-api/schemas/resource.ts";
import { zoneFileSchema } from "../../kinds/dns-zone/zone-file-schema.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { parseSeconds } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { listAll } from "../list-all.ts";
import { writeManifests } from "../output.ts";
import { scopePath, type ScopeOptions } from "../scope-path.ts";
import { type Target, undeclared } from "../seen-items.ts";
import type { CliWorld } from "../world.ts";
import { declareZone, firstLook, resourceNameOf } from "./declared-zone.ts";
import { targetPath } from "./declare.ts";

export interface ImportDnsOptions extends ScopeOptions {
  readonly zone?: string;
  readonly account?: string;
  readonly file?: string;
  readonly timeout: string;
  readonly output: string;
}

type Manifest = Parameters<typeof writeManifests>[2][number];

/** A whole zone as manifests: the zone in mode observe, and every record set in it just as it is. */
export async function importDns(world: CliWorld, client: ApiClient, options: ImportDnsOptions): Promise<void> {
  const { zone, file } = options;
  if (zone === undefined) throw usageError("say which zone: setpoint import dns --zone example.com");
  const name = resourceNameOf(zone);
  if (file !== undefined) return importFile(world, { ...options, zone, file }, name);
  const target = await lookedAt(world, client, { ...options, zone }, name);
  const items = await firstLook(world, client, target, parseSeconds(options.timeout) * 1_000);
  const found = undeclared(items);
  tellLeft(world, found);
  const spec = { account: await accountOf(client, target), zone };
  writeAll(world, options, [zoneManifest(target.name, spec), ...found.flatMap(({ manifest }) => manifest ?? [])]);
}

/** From a file alone: nobody is asked, and nothing is declared. */
function importFile(
  world: CliWorld,
  options: ImportDnsOptions & { readonly zone: string; readonly file: string },
  name: string,
): void {
  const { zone, file, account } = options;
  if (account === undefined)
    throw usageError("say at whose server the zone is: --account NAME (setpoint account list shows them)");
  const read = zoneFileSchema.parse({ text: textOf(file), zone, zoneResource: name });
  if (read.problems.length > 0)
    throw usageError(
      `nothing was imported:\n${read.problems.map(({ line, message }) => `  ${file}:${line}: ${message}`).join("\n")}`,
    );
  for (const { line, message } of read.left) world.writeNote(`left out: ${file}:${line}: ${message}\n`);
  const records = read.records.map((record) => ({
    apiVersion: "setpoint/v1",
    kind: "DnsRecord",
    metadata: { name: record.name },
    spec: record.spec,
  }));
  writeAll(world, options, [zoneManifest(name, { account, zone }), ...records]);
}

/** A zone that is declared here is used as it is; else it is declared in mode observe, which changes nothing outside. */
async function lookedAt(
  world: CliWorld,
  client: ApiClient,
  options: ImportDnsOptions & { readonly zone: string },
  name: string,
): Promise<Target> {
  const items = await listAll(client, `${scopePath(world, options)}/dnszones`, undefined);
  const wanted = options.zone.toLowerCase().replace(/\.$/, "");
  const known = items.find(({ spec }) => zoneOf(spec).toLowerCase().replace(/\.$/, "") === wanted);
  if (known !== undefined) return await targetPath(world, client, `dnszone/${known.metadata.name}`, options);
  if (options.account === undefined)
    throw new CliError(
      `No DnsZone here is ${options.zone}. Say at whose server it is (--account NAME), and it is declared in mode observe and looked at; or import a zone file with --file`,
      exitCodes.notFound,
    );
  return await declareZone(world, client, name, {
    ...options,
    name: options.account,
    mode: "observe",
    told: (text) => world.writeNote(text),
  });
}

function zoneOf(spec: unknown): string {
  return typeof spec === "object" && spec !== null && "zone" in spec ? String(spec.zone) : "";
}

async function accountOf(client: ApiClient, target: Target): Promise<string> {
  const document = (await client.get(target.path)) as { readonly spec?: { readonly account?: string } };
  return document.spec?.account ?? "";
}

function zoneManifest(name: string, spec: { readonly account: string; readonly zone: string }): Manifest {
  return { apiVersion: "setpoint/v1", kind: "DnsZone", metadata: { name, mode: "observe" }, spec } as Manifest;
}

function writeAll(world: CliWorld, { output }: ImportDnsOptions, manifests: readonly Manifest[]): void {
  writeManifests(world, output, manifests);
  world.writeNote(
    `${manifests.length - 1} record sets. Apply them, see that nothing differs (setpoint plan), then let the zone act: setpoint mode\n`,
  );
}

function tellLeft(world: CliWorld, items: readonly SeenItemDocument[]): void {
  for (const { key, manifest, problem } of items)
    if (manifest === undefined)
      world.writeNote(`left out: ${key}: ${problem ?? "no resource of its own can declare it"}\n`);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : String(thrown);
    throw usageError(`${file} cannot be read (${code})`);
  }
}

/** Which of the two a word means. */
export function isDnsImport(word: string): boolean {
  return word.toLowerCase() === "dns";
}
