import type { Command } from "commander";
import type { ApiClient } from "../api-client.ts";
import { thrownMessage, usageError } from "../cli-error.ts";
import { json } from "../output.ts";
import type { CliWorld } from "../world.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

interface RawOptions {
  readonly data?: string;
  readonly header?: readonly string[];
}

/**
 * api: without words the role of that name; with a method and a path any route, signed in as everywhere else, for what has
 * no command yet and for scripts.
 */
export function registerRaw(
  program: Command,
  about: { readonly world: CliWorld; readonly client: ApiClient; readonly runRole: () => Promise<void> },
): void {
  program
    .command("api")
    .description("run the Control API (needs DATABASE_URL); or, with METHOD and PATH, send it one request")
    .argument("[method]", methods.join(", "))
    .argument("[path]", "such as /v1/summary")
    .option("-d, --data <json>", "the body; - reads it from stdin")
    .option("-H, --header <name:value...>", 'further headers, such as If-Match: "3"')
    .action(async (method: string | undefined, path: string | undefined, options: RawOptions) => {
      if (method === undefined) return await about.runRole();
      await send(about.world, about.client, { method: method.toUpperCase(), path: path ?? "" }, options);
    });
}

async function send(
  world: CliWorld,
  client: ApiClient,
  { method, path }: { readonly method: string; readonly path: string },
  options: RawOptions,
): Promise<void> {
  if (!methods.includes(method)) throw usageError(`"${method}" is no method: ${methods.join(", ")}`);
  if (!path.startsWith("/")) throw usageError(`"${path}" must begin with a slash, such as /v1/summary`);
  const text = options.data === "-" ? await world.readStdin() : options.data;
  const answer = await client.send(method, path, {
    ...(text === undefined ? {} : { body: parsedBody(text) }),
    headers: Object.fromEntries((options.header ?? []).map(headerOf)),
  });
  if (answer.body === undefined) return;
  world.writeData(typeof answer.body === "string" ? answer.body : json(answer.body));
}

function parsedBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    throw usageError(`the body is not JSON: ${thrownMessage(thrown)}`);
  }
}

function headerOf(text: string): readonly [string, string] {
  const match = /^([A-Za-z0-9-]+):\s*(.*)$/.exec(text);
  if (match === null) throw usageError(`"${text}" is no header: write NAME: VALUE`);
  return [(match[1] ?? "").toLowerCase(), match[2] ?? ""];
}
