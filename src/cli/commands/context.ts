import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { type Context, readContexts, writeContexts } from "../context-file.ts";
import { exitCodes } from "../exit-codes.ts";
import { type RecordOptions, showRecords, withRecords } from "../records.ts";
import { type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** context: which server and scope commands mean when they do not say. */
export function registerContext(program: Command, world: CliWorld): void {
  const context = program.command("context").description("which server and scope commands mean when they do not say");
  withRecords(context.command("list", { isDefault: true }))
    .description("list contexts; the star marks the one in use")
    .action((options: RecordOptions) =>
      showRecords(world, options, () => {
        const { current, contexts } = readContexts(world);
        const items = Object.entries(contexts).map(([name, one]) => ({ name, inUse: name === current, ...one }));
        return {
          value: { items },
          items,
          name: ({ name }) => name,
          head: ["", "NAME", "URL", "ORGANIZATION", "PROJECT", "WORKSPACE"],
          row: ({ name, inUse, url = "", organization = "", project = "", workspace = "" }) => [
            inUse ? "*" : "",
            name,
            url,
            organization,
            project,
            workspace,
          ],
          empty: "There are no contexts. Make one with: setpoint context set NAME",
        };
      }),
    );
  withScope(context.command("set"))
    .description("make or change a context, and use it")
    .argument("<name>")
    .option("--url <url>", "the server, such as http://127.0.0.1:7780")
    .action((name: string, options: ScopeOptions & { readonly url?: string }) => {
      const { contexts } = readContexts(world);
      const { url, organization, project, workspace } = options;
      const given = Object.entries({ url, organization, project, workspace }).filter(
        ([, value]) => value !== undefined,
      );
      const changed: Context = { ...contexts[name], ...(Object.fromEntries(given) as Context) };
      writeContexts(world, { current: name, contexts: { ...contexts, [name]: changed } });
      world.writeNote(`using ${name}\n`);
    });
  context
    .command("use")
    .description("use a context")
    .argument("<name>")
    .action((name: string) => {
      const { contexts } = readContexts(world);
      requireKnown(contexts, name);
      writeContexts(world, { current: name, contexts });
      world.writeNote(`using ${name}\n`);
    });
  context
    .command("delete")
    .description("forget a context")
    .argument("<name>")
    .action((name: string) => {
      const { current, contexts } = readContexts(world);
      requireKnown(contexts, name);
      const kept = Object.fromEntries(Object.entries(contexts).filter(([other]) => other !== name));
      writeContexts(world, { ...(current === name || current === undefined ? {} : { current }), contexts: kept });
      world.writeNote(`forgot ${name}\n`);
    });
}

function requireKnown(contexts: Readonly<Record<string, Context>>, name: string): void {
  if (name in contexts) return;
  throw new CliError(
    `There is no context "${name}". Contexts: ${Object.keys(contexts).join(", ") || "none"}`,
    exitCodes.notFound,
  );
}
