import { readFile } from "node:fs/promises";
import type { Credentials } from "../ports/credentials.ts";
import type { EngineOpener } from "../ports/engine-seal.ts";

const longestBytes = 64 * 1024;
const keptMax = 10_000;

/** Only the processes that call providers (the scheduler) make one of these: the Control API holds no credential it could read. */
export function createCredentials(
  environment: Readonly<Record<string, string | undefined>>,
  opener?: EngineOpener,
): Credentials {
  const opened = new Map<string, string>();
  return Object.freeze({
    read: async (reference: string, binding: string) => {
      const colon = reference.indexOf(":");
      const scheme = reference.slice(0, colon);
      const rest = reference.slice(colon + 1);
      if (colon > 0 && rest !== "") {
        if (scheme === "env") return fromEnvironment(environment, rest);
        if (scheme === "file") return fromFile(rest);
        if (scheme === "sealed") return fromSeal({ opener, opened, sealed: rest, binding });
      }
      return missing(`The credential reference "${reference}" is not understood: write env:NAME or file:/path`);
    },
  });
}

function fromEnvironment(environment: Readonly<Record<string, string | undefined>>, name: string) {
  const value = environment[name]?.trim();
  if (value !== undefined && value !== "") return { found: true, value } as const;
  return missing(`The environment variable ${name} is not set for the scheduler: set it and start the scheduler again`);
}

/** Opening costs a few key operations, and a cycle asks for each call: so what was opened is kept, for a while. */
function fromSeal(about: {
  readonly opener: EngineOpener | undefined;
  readonly opened: Map<string, string>;
  readonly sealed: string;
  readonly binding: string;
}) {
  const { opener, opened, sealed, binding } = about;
  if (opener === undefined) return missing("This process has no engine key, and the credential is sealed to one");
  const key = `${binding}\n${sealed}`;
  const known = opened.get(key);
  if (known !== undefined) return { found: true, value: known } as const;
  try {
    const value = opener.open(sealed, binding);
    if (opened.size >= keptMax) opened.clear();
    opened.set(key, value);
    return { found: true, value } as const;
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return missing(
      `The stored credential cannot be opened: ${reason}. Give this scheduler the engine key it was sealed to (engine.key, SETPOINT_ENGINE_KEY), or store the credential again: setpoint secret set-credential`,
    );
  }
}

async function fromFile(path: string) {
  try {
    const value = (await readFile(path, { encoding: "utf8" })).trim();
    if (value === "") return missing(`The credential file ${path} is empty: write the credential into it`);
    if (value.length > longestBytes) return missing(`The credential file ${path} is too long to be a credential`);
    return { found: true, value } as const;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    return missing(`The credential file ${path} cannot be read (${code}): the scheduler needs to read it`);
  }
}

function missing(message: string) {
  return { found: false, message } as const;
}
