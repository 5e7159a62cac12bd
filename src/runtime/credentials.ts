import { readFile } from "node:fs/promises";
import type { Credentials } from "../ports/credentials.ts";

const longestBytes = 64 * 1024;

/** Only the processes that call providers (the scheduler) make one of these: the Control API holds no credential it could read. */
export function createCredentials(environment: Readonly<Record<string, string | undefined>>): Credentials {
  return Object.freeze({
    read: async (reference: string) => {
      const colon = reference.indexOf(":");
      const scheme = reference.slice(0, colon);
      const rest = reference.slice(colon + 1);
      if (colon > 0 && rest !== "") {
        if (scheme === "env") return fromEnvironment(environment, rest);
        if (scheme === "file") return fromFile(rest);
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
