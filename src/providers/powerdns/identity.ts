import { digestOf } from "../../kernel/hash.ts";
import type { AccountIdentity } from "../../ports/provider.ts";
import { configSchema, type PowerDnsClient, serverSchema, tsigKeysSchema } from "./client.ts";

type Sentinel = NonNullable<AccountIdentity["sentinel"]>;

/** Settings that say which data a server serves. Credentials and tuning are not among them. */
const backendSetting = /-(database|dbname|host|port|socket|filename|config|datasource)$/;

/**
 * PowerDNS has no id of its own, so the fingerprint is taken from what it says about itself: its server-id (the host name
 * unless it is set) and where its backends keep their data. Another server behind the same URL differs in one of them.
 */
export async function readFingerprint(client: PowerDnsClient, signal: AbortSignal): Promise<string> {
  const server = await client.get(serverSchema, { path: [], what: "the read of the server" }, signal);
  const settings = await client.get(
    configSchema,
    { path: ["config"], what: "the read of the server's settings" },
    signal,
  );
  const value = (name: string) => settings.find((setting) => setting.name === name)?.value ?? "";
  const backends = value("launch")
    .split(",")
    .map((backend) => backend.trim().replace(":", "-"))
    .filter((backend) => backend !== "");
  const places = settings
    .filter(
      (setting) =>
        backendSetting.test(setting.name) && backends.some((backend) => setting.name.startsWith(`${backend}-`)),
    )
    .map((setting) => `${setting.name}=${setting.value}`)
    .sort();
  return `powerdns:${digestOf([server.daemon_type, server.id, value("server-id"), value("launch"), places])}`;
}

const sentinelName = /^setpoint-sentinel\.(\d{1,9})\.([a-z0-9-]{1,63})\.?$/;

/**
 * The sentinel is the name of a TSIG key that no zone refers to: the only thing the API of 4.7 can store for a whole
 * server. The key's secret is made by the server and never kept by us; the key allows nothing.
 */
export async function readSentinel(client: PowerDnsClient, signal: AbortSignal): Promise<Sentinel | undefined> {
  const found = await listSentinels(client, signal);
  return found.at(-1)?.sentinel;
}

/** Puts ours first and takes the others away after, so that a crash between never leaves the server unclaimed. */
export async function writeSentinel(client: PowerDnsClient, sentinel: Sentinel, signal: AbortSignal): Promise<void> {
  const name = `setpoint-sentinel.${sentinel.incarnation}.${sentinel.installationId.toLowerCase()}`;
  const body = { name, algorithm: "hmac-sha256" };
  await client.write({ method: "POST", path: ["tsigkeys"], body, what: "the claim of the server" }, signal, [409]);
  for (const other of await listSentinels(client, signal)) {
    if (other.name === name) continue;
    const what = `the removal of the earlier claim ${other.name}`;
    await client.write({ method: "DELETE", path: ["tsigkeys", other.id], what }, signal, [404]);
  }
}

/** Sorted so that the newest incarnation is last; a claim that was interrupted leaves two for a moment. */
async function listSentinels(client: PowerDnsClient, signal: AbortSignal) {
  const keys = await client.get(tsigKeysSchema, { path: ["tsigkeys"], what: "the read of the server's claim" }, signal);
  return keys
    .flatMap((key) => {
      const match = sentinelName.exec(key.name.toLowerCase());
      if (match === null) return [];
      const sentinel = { installationId: match[2] ?? "", incarnation: Number(match[1]) };
      return [{ id: key.id, name: key.name.toLowerCase().replace(/\.$/, ""), sentinel }];
    })
    .sort((left, right) => left.sentinel.incarnation - right.sentinel.incarnation || (left.name < right.name ? -1 : 1));
}
