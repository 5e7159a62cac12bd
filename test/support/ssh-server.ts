import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import ssh2 from "ssh2";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { printedBy, stopServer, untilAnswers } from "./dns-process.ts";

/** A real sshd of its own, on every address of loopback. Whoever signs in has an empty folder for a home. */
export interface SshServer extends AsyncDisposable {
  readonly port: number;
  /** Who may sign in: whoever runs the test. */
  readonly user: string;
  /** Of the host key. */
  readonly fingerprint: string;
  /** A private key that may sign in, and one that may not. */
  readonly keyFile: string;
  readonly strangerKeyFile: string;
  readonly home: string;
  /** What is in a file of the home; empty where there is none. */
  read(file: string): string;
  printed(): string;
}

export async function startSshServer(program: string): Promise<SshServer> {
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "setpoint-ssh-"));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, "home");
  mkdirSync(home);
  // As root sshd insists on this folder, which is there wherever it was started before.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const [host, friend, stranger] = [newKey(), newKey(), newKey()];
  const secret = { mode: 0o600 };
  writeFileSync(join(folder, "host_key"), host.private, secret);
  writeFileSync(join(folder, "friend"), friend.private, secret);
  writeFileSync(join(folder, "stranger"), stranger.private, secret);
  writeFileSync(join(folder, "authorized_keys"), `${friend.public}\n`, secret);
  const port = await freePort();
  writeFileSync(join(folder, "sshd_config"), settings(folder, { port, home }));
  const server = spawn(program, ["-D", "-e", "-f", join(folder, "sshd_config")], { stdio: ["ignore", "pipe", "pipe"] });
  const printed = printedBy(server);
  undo.defer(() => stopServer(server));
  await untilAnswers(server, "sshd", () => isOpen(port), printed);
  const owned = undo.move();
  return {
    port,
    user: userInfo().username,
    fingerprint: fingerprintOf(host.public),
    keyFile: join(folder, "friend"),
    strangerKeyFile: join(folder, "stranger"),
    home,
    read: (file) => (existsSync(join(home, file)) ? readFileSync(join(home, file), "utf8") : ""),
    printed,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function newKey(): { readonly private: string; readonly public: string } {
  return ssh2.utils.generateKeyPairSync("ed25519");
}

/** By its public half as a file holds it; not by the code that is put to the test. */
export function fingerprintOf(publicKey: string): string {
  const bytes = Buffer.from(publicKey.split(" ")[1] ?? "", "base64");
  return `SHA256:${createHash("sha256").update(bytes).digest("base64").replace(/=+$/, "")}`;
}

function settings(folder: string, { port, home }: { readonly port: number; readonly home: string }): string {
  return [
    `Port ${port}`,
    "ListenAddress 0.0.0.0",
    `HostKey ${join(folder, "host_key")}`,
    `AuthorizedKeysFile ${join(folder, "authorized_keys")}`,
    `SetEnv HOME=${home}`,
    "PermitRootLogin yes",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    // The folder is below one that everybody may write to.
    "StrictModes no",
    "UsePAM no",
    "PidFile none",
    "MaxStartups 100",
    "",
  ].join("\n");
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port }, () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
}

/** Stands before a real sshd on every address of loopback, and cuts connections as it is told. */
export interface SshProxy extends AsyncDisposable {
  readonly port: number;
  /** Each is for one connection: it is cut once its client has sent so many bytes. */
  readonly cutsAfterBytes: number[];
  /** Connections that were cut. */
  readonly cut: number;
}

export async function startSshProxy(serverPort: number): Promise<SshProxy> {
  const open = new Set<Socket>();
  const cutsAfterBytes: number[] = [];
  const state = { cut: 0 };
  const listener = createServer((client) => {
    const upstream = connect({ host: "127.0.0.1", port: serverPort });
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
    }
    let sent = 0;
    client.on("data", (chunk: Buffer) => {
      sent += chunk.length;
      const [limit] = cutsAfterBytes;
      if (limit === undefined || sent < limit) return void upstream.write(chunk);
      cutsAfterBytes.shift();
      state.cut += 1;
      client.destroy();
      upstream.destroy();
    });
    upstream.on("data", (chunk: Buffer) => void client.write(chunk));
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, "0.0.0.0", resolve));
  const { port } = listener.address() as AddressInfo;
  return {
    port,
    cutsAfterBytes,
    get cut() {
      return state.cut;
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        listener.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
