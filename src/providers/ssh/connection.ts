import { createHash } from "node:crypto";
import ssh2, { type Client, type ClientErrorExtensions } from "ssh2";
import { type EngineError, RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { Secret } from "../../kernel/secret.ts";
import type { ShellAddress, ShellTarget } from "../../ports/shell.ts";

/** A server says a few lines; one that talks without end is left. */
const outputLimitBytes = 64 * 1_024;

/** Shorter than a call may take, so that a server that is silent is called that, and not a call that took too long. */
const handshakeMs = 8_000;

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The key an account signs in with. */
export interface SshKey {
  readonly secret: Secret;
  /** By which it is found in somebody's authorized_keys, with `ssh-keygen -l`. */
  readonly fingerprint: string;
  /** Whose it is, for messages. */
  readonly account: string;
}

function fingerprintOf(publicKey: Buffer): string {
  return `SHA256:${createHash("sha256").update(publicKey).digest("base64").replace(/=+$/, "")}`;
}

/** What cannot be used is refused before anything is connected to, and never shown. */
export function parseKey(secret: Secret, account: string): SshKey {
  // A file of OpenSSH is answered with a list, whatever the types say.
  const [key] = [ssh2.utils.parseKey(secret.reveal())].flat();
  if (key === undefined || key instanceof Error || !key.isPrivateKey())
    throw new TerminalError(
      "CREDENTIAL_REFUSED",
      `The credential of account '${account}' is no private key that can be used (an OpenSSH or PEM file without a passphrase is needed): setpoint secret set-credential ${account} < id_ed25519`,
    );
  return { secret, account, fingerprint: fingerprintOf(key.getPublicSSH()) };
}

const placeOf = ({ host, port }: ShellAddress) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);

/** Goes as far as the key exchange: the host key is what the server proves itself with, whoever asks. */
export async function readHostKey(address: ShellAddress, signal: AbortSignal): Promise<string> {
  let seen: string | undefined;
  const opening = open({ address, user: "nobody", verify: (key) => ((seen = key), false) }, signal);
  const connection = await opening.catch((thrown: unknown) => {
    if (seen === undefined) throw thrown;
  });
  connection?.end();
  if (seen === undefined) throw unreachable(address, "it showed no host key");
  return seen;
}

/** One command on a new connection, with what it is told; the connection ends with it. */
export async function runAt(
  target: ShellTarget,
  key: SshKey,
  command: { readonly text: string; readonly input: string } | undefined,
  signal: AbortSignal,
): Promise<Ran> {
  const client = await signIn(target, key, signal);
  try {
    return command === undefined
      ? { exitCode: 0, stdout: "", stderr: "" }
      : await execute(client, target, command, signal);
  } finally {
    client.destroy();
  }
}

async function signIn(target: ShellTarget, key: SshKey, signal: AbortSignal): Promise<Client> {
  let shown: string | undefined;
  const verify = (seen: string) => {
    shown = seen;
    return seen === target.hostKey;
  };
  try {
    return await open({ address: target, user: target.user, key, verify }, signal);
  } catch (thrown) {
    if (shown !== undefined && shown !== target.hostKey) throw otherHostKey(target, shown);
    throw thrown;
  }
}

function otherHostKey(target: Pick<ShellTarget, "host" | "port" | "hostKey">, shown: string): TerminalError {
  return new TerminalError(
    "PRECONDITION_FAILED",
    `The server at ${placeOf(target)} shows the host key ${shown}, and ${target.hostKey} is the one to expect: somebody else may answer there, so nobody signed in and nothing was sent. Compare it on the server's own console with ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub; if it is the server's, declare it as spec.bootstrap.ssh.hostKey`,
  );
}

interface Opening {
  readonly address: ShellAddress;
  readonly user: string;
  readonly key?: SshKey | undefined;
  readonly verify: (hostKey: string) => boolean;
}

function open({ address, user, key, verify }: Opening, signal: AbortSignal): Promise<Client> {
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    const fail = (error: EngineError) => {
      signal.removeEventListener("abort", ended);
      client.destroy();
      reject(error);
    };
    const ended = () => fail(unreachable(address, "it did not answer in time"));
    if (signal.aborted) return ended();
    signal.addEventListener("abort", ended, { once: true });
    client
      .once("ready", () => {
        signal.removeEventListener("abort", ended);
        resolve(client);
      })
      // Stays, because an error that nobody hears ends the process; what comes after the first one changes nothing.
      .on("error", (error: Error & ClientErrorExtensions) => fail(openingError(address, { user, key }, error)))
      .once("close", () => fail(unreachable(address, "it ended the connection")))
      .connect({
        host: address.host,
        port: address.port,
        username: user,
        ...(key === undefined ? {} : { privateKey: key.secret.reveal() }),
        authHandler: key === undefined ? ["none"] : ["publickey"],
        hostVerifier: (hostKey: Buffer) => verify(fingerprintOf(hostKey)),
        readyTimeout: handshakeMs,
        algorithms: { serverHostKey: [...hostKeyAlgorithms] },
      });
  });
}

/** One order for everybody, so that a server with several keys shows the same one every time. */
const hostKeyAlgorithms = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "rsa-sha2-512",
  "rsa-sha2-256",
] as const;

function unreachable(address: ShellAddress, why: string): EngineError {
  const message = `The server at ${placeOf(address)} cannot be reached by SSH: ${why}`;
  return new RetryableError("PROVIDER_UNAVAILABLE", message, { ambiguous: false });
}

function openingError(
  address: ShellAddress,
  { user, key }: Pick<Opening, "user" | "key">,
  error: Error & ClientErrorExtensions,
): EngineError {
  if (error.level !== "client-authentication" || key === undefined) return unreachable(address, error.message);
  return new RetryableError(
    "CREDENTIAL_REFUSED",
    `The server at ${placeOf(address)} does not let ${user} sign in with the key of account '${key.account}' (${key.fingerprint}): ${error.message}. Put the public half of that key on the server (spec.sshKeys, or its own ~/.ssh/authorized_keys), or correct spec.bootstrap.ssh`,
    { ambiguous: false },
  );
}

function execute(
  client: Client,
  target: ShellTarget,
  command: { readonly text: string; readonly input: string },
  signal: AbortSignal,
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const printed = { stdout: "", stderr: "" };
    let exitCode: number | undefined;
    const cut = (why: string) => {
      signal.removeEventListener("abort", late);
      const message = `The connection to the server at ${placeOf(target)} ended before it had answered: ${why}`;
      reject(new RetryableError("PROVIDER_UNAVAILABLE", message, { ambiguous: true }));
    };
    const late = () => cut("it took too long");
    if (signal.aborted) return late();
    signal.addEventListener("abort", late, { once: true });
    client.once("close", () => cut("it was closed")).on("error", (error) => cut(error.message));
    client.exec(command.text, (error, channel) => {
      if (error !== undefined) return cut(error.message);
      const collect = (name: keyof typeof printed) => (chunk: Buffer) => {
        printed[name] = (printed[name] + chunk.toString("utf8")).slice(0, outputLimitBytes);
      };
      channel.on("data", collect("stdout"));
      channel.stderr.on("data", collect("stderr"));
      channel.on("exit", (code: number | null) => void (exitCode = code ?? undefined));
      channel.on("error", (thrown: Error) => cut(thrown.message));
      channel.once("close", () => {
        // Without an exit code nobody knows whether it was run.
        if (exitCode === undefined) return cut("it did not say how the command ended");
        signal.removeEventListener("abort", late);
        resolve({ exitCode, ...printed });
      });
      channel.end(command.input);
    });
  });
}
