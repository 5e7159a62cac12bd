import { accountCredential } from "../../kernel/account-credential.ts";
import { TerminalError } from "../../kernel/errors.ts";
import type { Credentials } from "../../ports/credentials.ts";
import type { Provider, ProviderAccount } from "../../ports/provider.ts";
import type { AccountRecord } from "../../ports/records.ts";
import type { ShellReader, ShellTarget, ShellWriter } from "../../ports/shell.ts";
import { parseKey, type Ran, readHostKey, runAt } from "./connection.ts";
import { lastRunProgram, parseLastRun, startProgram } from "./programs.ts";

const callTimeoutMs = 10_000;

/** Servers that are signed in to with a private key, which is the account's credential. */
export function createSshProvider(world: { readonly credentials: Credentials }): Provider<ShellReader, ShellWriter> {
  return Object.freeze({
    name: "ssh",
    settleMs: 0,
    callTimeoutMs,
    open: (account: AccountRecord) => openAccount(world.credentials, account),
  });
}

function openAccount(credentials: Credentials, account: AccountRecord): ProviderAccount<ShellReader, ShellWriter> {
  const run = async (
    target: ShellTarget,
    command: { readonly text: string; readonly input: string } | undefined,
    signal: AbortSignal,
  ): Promise<Ran> => {
    const secret = await accountCredential(credentials, account, "write");
    const ran = await runAt(target, parseKey(secret, account.name), command, signal);
    if (ran.exitCode === 0) return { ...ran, stdout: secret.hideIn(ran.stdout) };
    const said = secret.hideIn(ran.stderr.trim() || ran.stdout.trim()).slice(-400);
    throw new TerminalError(
      "PROVIDER_REFUSED",
      `The server at ${target.host} could not keep the script that it was to run (exit code ${ran.exitCode}): ${said}`,
    );
  };
  return {
    // A key is no account that somebody else could answer for: the server proves itself by its host key.
    identity: async () => ({ fingerprint: `ssh: ${account.id}` }),
    collections: {},
    reader: Object.freeze({
      hostKey: readHostKey,
      signIn: async (target, signal) => void (await run(target, undefined, signal)),
      lastRun: async (target, owner, signal) =>
        parseLastRun((await run(target, { text: lastRunProgram(owner), input: "" }, signal)).stdout),
    } satisfies ShellReader),
    writer: Object.freeze({
      startRun: async (target, script, signal) =>
        void (await run(target, { text: startProgram(script), input: script.script }, signal)),
    } satisfies ShellWriter),
  };
}
