import { open, rename, rm } from "node:fs/promises";
import type { Command } from "commander";
import { type AuditEntryDocument, auditHeadSchema, auditListSchema } from "../../control-api/schemas/audit.ts";
import { ExportVerifier } from "../../control-api/schemas/audit-export.ts";
import type { BrokenExport, ExportCheck } from "../../control-api/schemas/export-chain.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { safeText, toned } from "../output.ts";
import { type RecordOptions, type Records, showRecords, withRecords } from "../records.ts";
import { organizationPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

interface AuditOptions extends ScopeOptions {
  readonly platform?: boolean;
  readonly actor?: string;
  readonly type?: string;
  readonly resource?: string;
  readonly from?: string;
  readonly to?: string;
  readonly outcome?: string;
}

/** audit list, export, verify: who did what, when, why and from where; and that nobody changed the record. */
export function registerAudit(program: Command, world: CliWorld, client: ApiClient): void {
  const audit = program.command("audit").description("who did what, when, why and from where");
  withRecords(withFilters(audit.command("list")))
    .description("list the audit trail, newest first")
    .option("--limit <number>", "how many entries at most", "50")
    .action((options: AuditOptions & RecordOptions & { readonly limit: string }) =>
      showRecords(world, options, () => newest(world, client, options)),
    );
  withFilters(audit.command("export"))
    .description("export the audit trail as JSON lines (which verify checks) or CSV")
    .option("--format <format>", "ndjson or csv", "ndjson")
    .option("-f, --file <path>", "where to; without it, the standard output")
    .action(async (options: AuditOptions & { readonly format: string; readonly file?: string }) => {
      const parts = exported(world, client, options, options.format);
      if (options.file !== undefined) return await writeWhole(world, options.file, parts);
      for await (const part of parts) {
        world.writeData(part);
        await world.drained();
      }
    });
  withWhere(audit.command("verify"))
    .description("check that nothing in the record was changed, removed, moved or cut off")
    .argument("[file]", "an export; without it, the record of the server")
    .option("--head <position:hash>", "the end that the export must have, noted earlier or elsewhere")
    .option("--online", "also compare the export with the server")
    .action((file: string | undefined, options: VerifyOptions) => verify(world, client, file, options));
}

interface VerifyOptions extends AuditOptions {
  readonly head?: string;
  readonly online?: boolean;
}

function withWhere(command: Command): Command {
  return withScope(command).option("--platform", "the platform and every organization");
}

function withFilters(command: Command): Command {
  return withWhere(command)
    .option("--actor <name>", "only what this person or machine did")
    .option("--type <type>", "only entries whose type begins like this, such as resource.")
    .option("--resource <which>", "only what happened to this: its uid, its name, or Kind/name")
    .option("--from <time>", "not before, such as 2026-11-16T00:00:00Z")
    .option("--to <time>", "before this")
    .option("--outcome <outcome>", "done, or not-done: refused, rejected, given up, overdue or waiting");
}

function pathOf(world: CliWorld, options: AuditOptions): string {
  return options.platform === true ? "/v1/audit" : `${organizationPath(world, options)}/audit`;
}

function queryOf(options: AuditOptions, more: Readonly<Record<string, string>>): string {
  const { actor, type, resource, from, to, outcome } = options;
  const given = Object.entries({ actor, type, resource, from, to, outcome, ...more }).filter(
    ([, value]) => value !== undefined,
  );
  return new URLSearchParams(given as [string, string][]).toString();
}

async function newest(
  world: CliWorld,
  client: ApiClient,
  options: AuditOptions & { readonly limit: string },
): Promise<Records<AuditEntryDocument>> {
  const limit = Number(options.limit);
  if (!Number.isSafeInteger(limit) || limit < 1) throw usageError(`--limit ${options.limit} must be a number from 1`);
  const items: AuditEntryDocument[] = [];
  for (let token: string | undefined = ""; token !== undefined && items.length < limit; ) {
    const page = {
      pageSize: String(Math.min(500, limit - items.length)),
      ...(token === "" ? {} : { pageToken: token }),
    };
    const answer = auditListSchema.parse(await client.get(`${pathOf(world, options)}?${queryOf(options, page)}`));
    items.push(...answer.items);
    token = answer.nextPageToken;
  }
  return {
    value: { items },
    items,
    name: ({ position }) => String(position),
    head: ["WHEN", "WHO", "WHAT", "OF", "WHY", "FROM"],
    row: (item) => [item.at, item.actor, item.type, what(item), item.reason ?? "", item.address ?? ""],
    wide: {
      head: ["POSITION", "REQUEST", "HASH"],
      cells: ({ position, requestId, hash }) => [String(position), requestId ?? "", hash],
    },
    empty: "Nothing was recorded that fits.",
  };
}

/** What it happened to, in the words that the entry has for it. */
function what({ data, resource }: AuditEntryDocument): string {
  if (typeof data === "object" && data !== null && !Array.isArray(data)) {
    const { kind, name } = data as Readonly<Record<string, unknown>>;
    if (typeof kind === "string" && typeof name === "string") return `${kind}/${name}`;
    if (typeof name === "string") return name;
  }
  return resource ?? "";
}

/** Bit by bit: a log of years fits into no memory. */
function exported(
  world: CliWorld,
  client: ApiClient,
  options: AuditOptions,
  format: string,
): AsyncGenerator<string, void, undefined> {
  if (format !== "ndjson" && format !== "csv") throw usageError(`There is no format "${format}": write ndjson or csv`);
  return client.download(`${pathOf(world, options)}/export?${queryOf(options, { format })}`);
}

/** What has the asked-for name is whole: a download that breaks off leaves the file that was there. */
async function writeWhole(world: CliWorld, file: string, parts: AsyncIterable<string>): Promise<void> {
  const partial = `${file}.partial`;
  const lines = await open(partial, "w", 0o600).catch((thrown: unknown) => {
    throw usageError(`${file} cannot be written (${reasonOf(thrown)})`);
  });
  try {
    for await (const part of parts) await lines.write(part);
    await lines.close();
    await rename(partial, file);
  } catch (thrown) {
    await lines.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw thrown;
  }
  world.writeNote(`written to ${file}\n`);
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : String(thrown);
}

async function verify(
  world: CliWorld,
  client: ApiClient,
  file: string | undefined,
  options: VerifyOptions,
): Promise<void> {
  const verifier = new ExportVerifier(options.head === undefined ? undefined : headOf(options.head));
  const parts = file === undefined ? exported(world, client, options, "ndjson") : readFile(file);
  await takeLines(parts, verifier);
  const check = verifier.result();
  if (!check.holds) throw notWhole(file ?? client.url, check);
  if (file === undefined || options.online === true) await compare(world, client, options, check);
  const where = check.after === undefined ? "from the beginning" : `behind entry ${check.after.position}`;
  const end = check.last === undefined ? "" : ` Its end is ${check.last.position}:${check.last.hash}`;
  world.writeData(`${toned(world, "good", "whole")}: ${check.entries} entries ${where}, none changed.${end}\n`);
  if (!check.complete)
    world.writeNote("The export was filtered: each entry is genuine, and whether one is missing cannot be told.\n");
}

async function* readFile(file: string): AsyncGenerator<Buffer, void, undefined> {
  const opened = await open(file).catch((thrown: unknown) => {
    throw usageError(`${file} cannot be read (${reasonOf(thrown)})`);
  });
  yield* opened.createReadStream({ highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>;
}

/** Line by line, and no more of it in memory than one part and a line that is not whole yet. */
async function takeLines(parts: AsyncIterable<Buffer | string>, verifier: ExportVerifier): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of parts) {
    const bytes = Buffer.concat([rest, typeof part === "string" ? Buffer.from(part, "utf8") : part]);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      if (!verifier.take(bytes.subarray(start, end))) return;
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) verifier.take(rest);
}

/** The last entry of the export must be an entry of the server's record, and the record must not end before it. */
async function compare(
  world: CliWorld,
  client: ApiClient,
  options: AuditOptions,
  check: Extract<ExportCheck, { readonly holds: true }>,
): Promise<void> {
  const path = pathOf(world, options);
  const { last } = check;
  if (last === undefined) return;
  const head = auditHeadSchema.parse(await client.get(`${path}/head`));
  if (head.last === undefined || head.last.position < last.position)
    throw broken(
      `The server's record ends at ${head.last?.position ?? "nothing"}, before entry ${last.position} of the export`,
    );
  // The page before a position begins with the entry at it.
  const pageToken = Buffer.from(String(last.position + 1)).toString("base64url");
  const { items } = auditListSchema.parse(await client.get(`${path}?${queryOf({}, { pageSize: "1", pageToken })}`));
  if (items[0]?.position !== last.position || items[0].hash !== last.hash)
    throw broken(`Entry ${last.position} of the server is not the one of the export`);
}

function headOf(text: string): { readonly position: number; readonly hash: string } {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text);
  if (match === null) throw usageError(`--head ${text} must be POSITION:HASH, as verify prints it`);
  return { position: Number(match[1]), hash: match[2] ?? "" };
}

function notWhole(where: string, check: BrokenExport): CliError {
  return broken(`${where}: line ${check.line}: ${safeText(check.reason)}`);
}

function broken(message: string): CliError {
  return new CliError(`The record is not whole. ${message}`, exitCodes.operationFailed);
}
