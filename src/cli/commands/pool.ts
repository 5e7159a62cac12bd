import type { Command } from "commander";
import { poolAccountSchema, poolSchema } from "../../control-api/schemas/pool.ts";
import type { ApiClient } from "../api-client.ts";
import { type RecordOptions, showRecords, withRecords } from "../records.ts";
import type { CliWorld } from "../world.ts";
import { settingOf } from "./administer.ts";

interface NewPoolAccount {
  readonly provider: string;
  readonly credential: string;
  readonly set?: readonly string[];
  readonly location?: readonly string[];
  readonly callsPerSecond: string;
}

/** pool: the operator's accounts that organizations claim when they first make something there. */
export function registerPool(program: Command, world: CliWorld, client: ApiClient): void {
  const pool = program
    .command("pool")
    .description("the pool of accounts that organizations may claim (operators of the platform)");
  registerAdding(pool, world, client);
  withRecords(pool.command("list"))
    .description("list the pool: what is free, and who has the rest")
    .action((options: RecordOptions) =>
      showRecords(world, options, async () => {
        const { items } = poolSchema.parse(await client.get("/v1/pool"));
        return {
          value: { items },
          items,
          name: (item) => `pool/${item.name}`,
          head: ["NAME", "PROVIDER", "LOCATIONS", "STATE", "ORGANIZATION", "SINCE"],
          row: (item) => [
            item.name,
            item.provider,
            item.locations.join(", ") || "all",
            { text: item.state, tone: item.state === "returned" ? "warn" : "good" },
            item.organization ?? "",
            item.since,
          ],
          empty: "The pool is empty. Put an account into it with: setpoint pool add",
        };
      }),
    );
  pool
    .command("remove")
    .description("take an account out of the pool; refused while an organization has it")
    .argument("<name>")
    .action(async (name: string) => {
      await client.send("DELETE", pathOf(name));
      world.writeData(`pool/${name} removed\n`);
    });
  pool
    .command("release")
    .description("say that an account is empty, and put it back; refused while an organization has something there")
    .argument("<name>")
    .action(async (name: string) => {
      const { state } = poolAccountSchema.parse((await client.send("POST", `${pathOf(name)}:release`)).body);
      world.writeData(`pool/${name} is ${state}\n`);
    });
}

function registerAdding(pool: Command, world: CliWorld, client: ApiClient): void {
  pool
    .command("add")
    .description("put an account into the pool; the credential itself stays where it is")
    .argument("<name>")
    .requiredOption("--provider <name>", "hetzner-cloud or ionos")
    .requiredOption("--credential <reference>", "where the scheduler and the worker find it: env:NAME or file:PATH")
    .option("--set <key=value...>", "settings of the provider, such as url=https://api.hetzner.cloud/v1")
    .option("--location <name...>", "where things may be made; everywhere unless given")
    .option("--calls-per-second <number>", "how many calls the provider allows", "10")
    .action(async (name: string, options: NewPoolAccount) => {
      const body = {
        name,
        provider: options.provider,
        credentialRef: options.credential,
        settings: Object.fromEntries((options.set ?? []).map(settingOf)),
        locations: options.location ?? [],
        callsPerSecond: Number(options.callsPerSecond),
      };
      const added = poolAccountSchema.parse((await client.send("POST", "/v1/pool", { body })).body);
      world.writeData(`pool/${added.name} added\n`);
    });
}

function pathOf(name: string): string {
  return `/v1/pool/${encodeURIComponent(name)}`;
}
