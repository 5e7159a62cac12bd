import type { Command } from "commander";
import { type ProposalDocument, proposalListSchema, proposalSchema } from "../../control-api/schemas/proposal.ts";
import type { ApiClient } from "../api-client.ts";
import { usageError } from "../cli-error.ts";
import { shortDuration } from "../duration.ts";
import { loadManifests } from "../manifests.ts";
import { safeText } from "../output.ts";
import {
  type OutputOptions,
  type RecordOptions,
  type Records,
  showOne,
  showRecords,
  withOutput,
  withRecords,
} from "../records.ts";
import { organizationPath, placeOf, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { changesText, outsideText } from "./plan.ts";

/** plans: sets of changes that somebody proposed, each with what it would lead to. */
export function registerPlans(program: Command, world: CliWorld, client: ApiClient): void {
  const plans = program
    .command("plans")
    .description("proposed sets of changes: propose, show, approve, reject, withdraw, apply");
  const path = (options: ScopeOptions, id = "") =>
    `${organizationPath(world, options)}/proposals${id === "" ? "" : `/${encodeURIComponent(id)}`}`;
  withRecords(withScope(plans.command("list")))
    .description("list proposals")
    .option("--state <state>", "open, approved, rejected, applied, withdrawn or all", "open")
    .action((options: ScopeOptions & RecordOptions & { readonly state: string }) =>
      showRecords(world, options, async () => {
        const answer = await client.get(`${path(options)}?state=${encodeURIComponent(options.state)}`);
        return proposalRecords(world, proposalListSchema.parse(answer).items);
      }),
    );
  withOutput(withScope(plans.command("show")))
    .description("show one proposal with everything it would do, and the digest an approval binds to")
    .argument("<id>")
    .action(async (id: string, options: ScopeOptions & OutputOptions) => {
      const proposal = proposalSchema.parse(await client.get(path(options, id)));
      showOne(world, options, { value: proposal, name: proposal.id, text: () => proposalText(world, proposal) });
    });
  registerPropose(plans, { world, client, path });
  registerDecide(plans, { world, client, path });
}

interface About {
  readonly world: CliWorld;
  readonly client: ApiClient;
  readonly path: (options: ScopeOptions, id?: string) => string;
}

function registerPropose(plans: Command, { world, client, path }: About): void {
  withScope(plans.command("propose"))
    .description("propose what the manifests say instead of applying it")
    .option("-f, --file <path...>", "a YAML or JSON file, a folder of them, or - for stdin")
    .requiredOption("--reason <text>", "why; whoever decides reads this")
    .action(async (options: ScopeOptions & { readonly file?: readonly string[]; readonly reason: string }) => {
      if (options.file === undefined) throw usageError("name the manifests with -f FILE");
      const { project, workspace } = placeOf(world, options);
      const changes = (await loadManifests(world, options.file)).map(({ manifest, scope }) => ({
        manifest,
        ...(project === undefined ? {} : { project }),
        ...(workspace === undefined ? {} : { workspace }),
        ...Object.fromEntries(Object.entries(scope).filter(([name]) => name !== "organization")),
      }));
      const answer = await client.send("POST", path(options), { body: { reason: options.reason, changes } });
      const proposal = proposalSchema.parse(answer.body);
      world.writeData(`${proposal.id}\n`);
      world.writeNote(proposalText(world, proposal));
    });
}

function registerDecide(plans: Command, { world, client, path }: About): void {
  withScope(plans.command("approve"))
    .description("approve a proposal exactly as its digest names it")
    .argument("<id>")
    .requiredOption("--digest <digest>", "the digest that plans show printed")
    .action(async (id: string, options: ScopeOptions & { readonly digest: string }) => {
      await client.send("POST", `${path(options, id)}:approve`, { body: { digest: options.digest } });
      world.writeNote(`approved; apply it with: setpoint plans apply ${id}\n`);
    });
  withScope(plans.command("reject"))
    .description("reject a proposal")
    .argument("<id>")
    .requiredOption("--digest <digest>", "the digest that plans show printed")
    .requiredOption("--comment <text>", "why; whoever proposed it reads this")
    .action(async (id: string, options: ScopeOptions & { readonly digest: string; readonly comment: string }) => {
      const { digest, comment } = options;
      await client.send("POST", `${path(options, id)}:reject`, { body: { digest, comment } });
      world.writeNote(`rejected: ${id}\n`);
    });
  withScope(plans.command("withdraw"))
    .description("take back what you proposed, before it is applied")
    .argument("<id>")
    .option("--comment <text>", "why")
    .action(async (id: string, options: ScopeOptions & { readonly comment?: string }) => {
      const { comment } = options;
      await client.send("POST", `${path(options, id)}:withdraw`, { body: { comment } });
      world.writeNote(`withdrawn: ${id}\n`);
    });
  withScope(plans.command("apply"))
    .description("make all changes of an approved proposal, or none")
    .argument("<id>")
    .action(async (id: string, options: ScopeOptions) => {
      await client.send("POST", `${path(options, id)}:apply`);
      world.writeData(`${id} applied\n`);
    });
}

function proposalRecords(world: CliWorld, items: readonly ProposalDocument[]): Records<ProposalDocument> {
  return {
    value: { items },
    items,
    name: ({ id }) => id,
    head: ["ID", "STATE", "BY", "CHANGES", "PROPOSED", "WHY"],
    row: (item) => [
      item.id,
      item.state,
      item.author,
      String(item.changes.length),
      `${shortDuration(world.nowMs() - world.timeMs(item.proposedAt))} ago`,
      item.reason,
    ],
    wide: { head: ["DIGEST"], cells: ({ digest }) => [digest] },
    empty: "Nothing is proposed. Propose something with: setpoint plans propose -f FILE --reason TEXT",
  };
}

function proposalText(world: CliWorld, proposal: ProposalDocument): string {
  return [
    `${proposal.id}  ${proposal.state}, proposed by ${proposal.author}: ${safeText(proposal.reason)}`,
    (changesText(world, proposal.plan) + outsideText(world, proposal.plan)).trimEnd(),
    `digest: ${proposal.digest}`,
    "",
  ].join("\n");
}
