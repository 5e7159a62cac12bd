import { statSync } from "node:fs";
import type { Command } from "commander";
import { summarySchema } from "../../control-api/schemas/platform.ts";
import { type ApiClient, findToken, tokenFiles } from "../api-client.ts";
import { CliError, thrownMessage } from "../cli-error.ts";
import { shortDuration } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { safeText, toned } from "../output.ts";
import { storedSession } from "../session-file.ts";
import type { CliWorld } from "../world.ts";

interface Finding {
  readonly ok: boolean;
  readonly what: string;
  readonly todo?: string;
}

const leastNode = 24;

/** Looks at everything that usually goes wrong, says what to do about each, and ends with 1 if anything is wrong. */
export function registerDoctor(program: Command, world: CliWorld, client: ApiClient): void {
  program
    .command("doctor")
    .description("check this installation and say what to do about what is wrong")
    .action(async () => {
      const findings = [nodeVersion(world), ...tokenFindings(world, client), ...(await serverFindings(world, client))];
      for (const finding of findings) {
        const mark = finding.ok ? toned(world, "good", "✓") : toned(world, "bad", "✗");
        world.writeData(`${mark} ${safeText(finding.what)}\n`);
        if (!finding.ok && finding.todo !== undefined) world.writeData(`    → ${safeText(finding.todo)}\n`);
      }
      const wrong = findings.filter((finding) => !finding.ok).length;
      if (wrong > 0) throw new CliError(`${wrong} of ${findings.length} checks found something`, exitCodes.failed);
    });
}

function nodeVersion(world: CliWorld): Finding {
  const ok = Number.parseInt(world.nodeVersion, 10) >= leastNode;
  return {
    ok,
    what: `Node ${world.nodeVersion}`,
    todo: `run with Node ${leastNode} or later; bin/setpoint.mjs does that by itself`,
  };
}

function tokenFindings(world: CliWorld, client: ApiClient): readonly Finding[] {
  let token: string | undefined;
  try {
    token = findToken(world, client.url);
  } catch (thrown) {
    return [
      {
        ok: false,
        what: thrownMessage(thrown),
        todo: "fix the rights of the file",
      },
    ];
  }
  if (token === undefined) {
    return [
      {
        ok: false,
        what: "no operator token",
        todo: `looked for ${tokenFiles(world).join(" and ")}; set SETPOINT_TOKEN or SETPOINT_DATA`,
      },
    ];
  }
  const session = storedSession(world, client.url);
  if ((world.environment["SETPOINT_TOKEN"] ?? "") === "" && session !== undefined)
    return [{ ok: true, what: `signed in as ${session.email}`, todo: "" }];
  const file = tokenFiles(world).find((path) => statSync(path, { throwIfNoEntry: false }) !== undefined);
  const mode = file === undefined ? 0 : statSync(file).mode & 0o077;
  const from = world.environment["SETPOINT_TOKEN"] === undefined ? (file ?? "") : "SETPOINT_TOKEN";
  return [{ ok: mode === 0, what: `operator token from ${from}`, todo: `others can read it: chmod 600 ${file ?? ""}` }];
}

async function serverFindings(world: CliWorld, client: ApiClient): Promise<readonly Finding[]> {
  const reached = await client
    .plain("GET", "/healthz")
    .catch((thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))));
  if (reached instanceof Error) return [{ ok: false, what: reached.message, todo: 'start it with "npm start"' }];
  const healthy: Finding = {
    ok: reached.status === 200,
    what: `Control API at ${client.url} with its database`,
    todo: "the database does not answer: look at the log named at start",
  };
  const summary = await client
    .get("/v1/summary")
    .then((body) => summarySchema.parse(body))
    .catch((thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))));
  if (summary instanceof Error)
    return [healthy, { ok: false, what: summary.message, todo: "use the token of this installation" }];
  const services = summary.services.map(
    (service): Finding => ({
      ok: service.state === "running",
      what: `${service.name}: ${service.state} (${service.detail})`,
      todo: "look at the log named at start",
    }),
  );
  return [healthy, { ok: true, what: "the token is accepted" }, ...services, ...waitingFindings(world, summary)];
}

function waitingFindings(world: CliWorld, summary: ReturnType<typeof summarySchema.parse>): readonly Finding[] {
  const findings: Finding[] = [];
  const oldestMs =
    summary.oldestConfirmedAt === undefined ? 0 : world.nowMs() - world.timeMs(summary.oldestConfirmedAt);
  findings.push({
    ok: oldestMs < 3_600_000,
    what: summary.oldestConfirmedAt === undefined ? "no verdict yet" : `oldest verdict ${shortDuration(oldestMs)} ago`,
    todo: "something was not looked at for an hour: setpoint get KIND shows which is not fresh",
  });
  findings.push({ ok: summary.heldOpen === 0, what: `${summary.heldOpen} held changes`, todo: "setpoint held list" });
  findings.push({
    ok: summary.operationsAttention === 0,
    what: `${summary.operationsAttention} operations that need somebody`,
    todo: "setpoint ops list --attention",
  });
  findings.push({
    ok: summary.pausesActive === 0,
    what: `${summary.pausesActive} pauses`,
    todo: "setpoint pause list",
  });
  return findings;
}
