import { readFileSync } from "node:fs";
import type { Command } from "commander";
import {
  credentialAnswerSchema,
  rotationSchema,
  secretListSchema,
  secretSchema,
} from "../../control-api/schemas/secrets.ts";
import type { ApiClient } from "../api-client.ts";
import { usageError } from "../cli-error.ts";
import { type RecordOptions, showRecords, withRecords } from "../records.ts";
import { organizationPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** secret list, set, remove, set-credential, rotate. Values come from a file or the standard input, never from arguments. */
export function registerSecrets(program: Command, world: CliWorld, client: ApiClient): void {
  const secret = program.command("secret").description("secrets: they go in and never come out");
  registerStored(secret, world, client);
  withScope(secret.command("set-credential"))
    .description("store the credential of an account, sealed so that only schedulers and workers can read it")
    .argument("<account>")
    .option("--write-file <path>", "the credential that acts; without it, the standard input")
    .option("--read-file <path>", "a second credential that can only look")
    .action(
      async (account: string, options: ScopeOptions & { readonly writeFile?: string; readonly readFile?: string }) => {
        const write = await valueOf(world, options.writeFile, "the credential");
        const read = options.readFile === undefined ? undefined : fromFile(options.readFile);
        const path = `${organizationPath(world, options)}/accounts/${encodeURIComponent(account)}/credential`;
        const answer = await client.send("PUT", path, { body: { write, read } });
        const { sealedTo, parts } = credentialAnswerSchema.parse(answer.body);
        world.writeNote(`account/${account}: ${parts.join(" and ")} credential sealed to the engine key ${sealedTo}\n`);
      },
    );
  secret
    .command("rotate")
    .description("seal all secrets anew, under the current root key and new keys of their tenants")
    .option("--root-only", "leave the tenants' keys as they are")
    .option("--started-at <time>", "go on with a rotation that was interrupted")
    .action((options: { readonly rootOnly?: boolean; readonly startedAt?: string }) => rotate(world, client, options));
}

function registerStored(secret: Command, world: CliWorld, client: ApiClient): void {
  const pathOf = (options: ScopeOptions, name: string) =>
    `${organizationPath(world, options)}/secrets/${encodeURIComponent(name)}`;
  withRecords(withScope(secret.command("list")))
    .description("list secrets: that they are there")
    .action((options: ScopeOptions & RecordOptions) =>
      showRecords(world, options, async () => {
        const { items } = secretListSchema.parse(await client.get(`${organizationPath(world, options)}/secrets`));
        return {
          value: { items },
          items,
          name: (item) => `secret/${item.name}`,
          head: ["NAME", "VERSION", "CHANGED", "BY"],
          row: (item) => [item.name, String(item.version), item.changedAt, item.changedBy],
          empty: "There is no secret here. Store one with: setpoint secret set NAME",
        };
      }),
    );
  withScope(secret.command("set"))
    .description("store or replace a secret")
    .argument("<name>")
    .option("-f, --file <path>", "where the value is; without it, the standard input")
    .action(async (name: string, options: ScopeOptions & { readonly file?: string }) => {
      const value = await valueOf(world, options.file, "the secret");
      const { version } = secretSchema.parse(
        (await client.send("PUT", pathOf(options, name), { body: { value } })).body,
      );
      world.writeNote(`secret/${name} stored as version ${version}\n`);
    });
  withScope(secret.command("remove"))
    .description("remove a secret for good")
    .argument("<name>")
    .action(async (name: string, options: ScopeOptions) => {
      await client.send("DELETE", pathOf(options, name));
      world.writeNote(`secret/${name} removed\n`);
    });
}

async function rotate(
  world: CliWorld,
  client: ApiClient,
  options: { readonly rootOnly?: boolean; readonly startedAt?: string },
): Promise<void> {
  let { startedAt } = options;
  for (;;) {
    const body = { tenantKeys: options.rootOnly !== true, ...(startedAt === undefined ? {} : { startedAt }) };
    const step = rotationSchema.parse((await client.send("POST", "/v1/keys/rotation", { body })).body);
    if (startedAt === undefined)
      world.writeNote(
        `Should this be interrupted, go on with: setpoint secret rotate --started-at ${step.startedAt}\n`,
      );
    startedAt = step.startedAt;
    const left = step.left.underRoot + step.left.tenantKeys + step.left.secrets;
    world.writeNote(`${left} left\n`);
    if (left > 0) continue;
    world.writeNote(`Everything is sealed under the root key ${step.rootKeyId}. Older root keys can be taken away.\n`);
    return;
  }
}

async function valueOf(world: CliWorld, file: string | undefined, what: string): Promise<string> {
  if (file !== undefined) return fromFile(file);
  if (world.interactive)
    throw usageError(`Pass ${what} on the standard input or name its file: a terminal would show it`);
  return trimmed(await world.readStdin(), "the standard input");
}

export function fromFile(file: string): string {
  try {
    return trimmed(readFileSync(file, "utf8"), file);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown)
      throw usageError(`${file} cannot be read (${String(thrown.code)})`);
    throw thrown;
  }
}

/** Editors and echo end a file with a line break that is not part of the value. */
export function trimmed(text: string, where: string): string {
  const value = text.replace(/\r?\n$/, "");
  if (value === "") throw usageError(`There is nothing in ${where}`);
  return value;
}
