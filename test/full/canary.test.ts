import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { Canaries } from "../canary/canaries.ts";
import { type Counterpart, startTalkativeMailServer, startTalkativeServer } from "../canary/counterparts.ts";
import { secretFields } from "../canary/secret-fields.ts";
import type { OpenApiDocument } from "../fuzz/json-schema.ts";
import { Recorder } from "../canary/recorder.ts";
import { becomeSomebody, makeTokens, misplace, organization, readAll, type Scene, wire } from "../canary/scenario.ts";
import { query, startTestServer, temporaryFolder, withUrl } from "../support/postgres.ts";
import { type Product, setpointIn, startProduct, until } from "../support/product.ts";
import { openWatch } from "../support/watch-reader.ts";

/** Every row of every table, as text; what is binary is shown in hexadecimal. */
async function copyOfAllTables(url: string): Promise<string> {
  const tables = await query<{ name: string }>(
    url,
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by 1",
  );
  assert.ok(tables.length > 30, `${tables.length} tables`);
  let text = "";
  for (const { name } of tables) {
    const rows = await query<{ row: string }>(url, `select t::text as row from ${name} t`);
    text += `${name}\n${rows.map(({ row }) => row).join("\n")}\n`;
  }
  return text;
}

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}

/** Commands as a person types them, those that fail included. */
async function useTheCommand({ recorder, canaries }: Scene, product: Product): Promise<void> {
  const commands: readonly (readonly string[])[] = [
    ["get", "dnszones", "--organization", "birds", "--project", "web", "-o", "json"],
    ["why", "dnszone/zone", "--organization", "birds", "--project", "web"],
    ["events", "dnszone/zone", "--organization", "birds", "--project", "web"],
    ["secret", "list", "--organization", "birds"],
    ["loops"],
    ["doctor"],
    ["audit", "export", "--organization", "birds"],
    ["api", "GET", "/v1/organizations/birds/accounts"],
    ["api", "POST", "/v1/organizations", "--body", JSON.stringify({ password: canaries.plant("the command's body") })],
  ];
  for (const command of commands) {
    const { stdout, stderr } = await product.setpoint(...command);
    recorder.keep(`what "setpoint ${command.slice(0, 2).join(" ")}" printed`, stdout + stderr);
  }
}

test("a canary is known in every spelling", () => {
  const canaries = new Canaries();
  const secret = canaries.plant("a bird");
  const around = (text: Buffer | string) => Buffer.from(`some ${text.toString()} thing`);
  const spelled = [
    secret,
    Buffer.from(secret).toString("hex"),
    ...["", "a", "ab"].map((before) => around(before + secret).toString("base64url")),
    JSON.stringify({ value: secret }),
    `\\x${around(secret).toString("hex")}`,
  ];
  for (const text of spelled) assert.equal(canaries.sightings(text).length, 1, text);
  assert.deepEqual(canaries.sightings(secret, ["a bird"]), []);
  assert.deepEqual(canaries.sightings(secret.slice(1)), []);
});

interface House {
  readonly product: Product;
  readonly scene: Scene;
  /** As the superuser, for looking into it afterwards. */
  readonly databaseUrl: string;
  readonly dataDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly counterparts: readonly Counterpart[];
}

/** The real product with a canary in every setting that is a secret, among counterparts that repeat what they are told. */
async function openHouse(undo: AsyncDisposableStack, canaries: Canaries, folder: string): Promise<House> {
  const server = undo.use(await startTestServer());
  const provider = undo.use(await startTalkativeServer(403));
  const webhook = undo.use(await startTalkativeServer(500));
  const mail = undo.use(await startTalkativeMailServer());
  const password = canaries.plant("the database's password");
  await query(server.url, `create role canary superuser login password '${password}'`);
  const operator = canaries.plant("the operator's token");
  const keyOf = (what: string) =>
    canaries.note(`${what} as it is written`, Buffer.from(canaries.plant(what).slice(0, 32)).toString("base64"));
  const environment = {
    DATABASE_URL: withUrl(server.url, { user: "canary", password }),
    SETPOINT_TOKEN: operator,
    SETPOINT_ROOT_KEY: keyOf("the root key"),
    SETPOINT_ENGINE_KEY: keyOf("the engine's key"),
    SETPOINT_SMTP_URL: `smtp://robin:${canaries.plant("the mail server's password")}@127.0.0.1:${mail.port}`,
    SETPOINT_LOG_LEVEL: "debug",
    SETPOINT_WEBHOOK_ALLOW_PRIVATE: "127.0.0.0/8",
  };
  const dataDirectory = join(folder, "data");
  const product = startProduct({ dataDirectory, port: await freePort(), environment });
  undo.defer(async () => void (await product.end("SIGKILL")));
  await product.ready();
  const scene: Scene = {
    recorder: new Recorder(product.url, canaries),
    canaries,
    operator,
    provider: `http://127.0.0.1:${provider.port}`,
    webhook: `http://127.0.0.1:${webhook.port}/hook`,
  };
  return {
    product,
    scene,
    databaseUrl: server.url,
    dataDirectory,
    environment,
    counterparts: [provider, webhook, mail],
  };
}

/** Everything that happens: secrets where they belong, secrets where they do not, and everybody refusing. */
async function live({ product, scene, counterparts }: House): Promise<void> {
  const { recorder, operator } = scene;
  const person = await becomeSomebody(scene);
  await makeTokens(scene, person);
  const streams = await Promise.all(
    ["projects/web/dnszones?watch=true", "changes"].map((path) =>
      openWatch(`${product.url}${organization}/${path}`, { authorization: `Bearer ${operator}` }),
    ),
  );
  await wire(scene);
  await misplace(scene);
  const why = await until(
    "the provider's refusal",
    () => recorder.call("GET", `${organization}/projects/web/dnszones/zone/why`, { as: operator }),
    ({ text }) => text.includes("PowerDNS answered 403"),
  );
  assert.ok(why.text.includes("refused"), "what the provider said is told, without what it was told");
  await until(
    "everybody to be called",
    async () => counterparts.map((each) => each.calls()),
    (calls) => calls.every((count) => count > 0),
  );
  await useTheCommand(scene, product);
  await readAll(scene, person);
  for (const stream of streams) {
    stream.close();
    assert.notEqual(stream.events.length, 0, "a stream that told nothing proves nothing");
    recorder.keep("a stream", JSON.stringify(stream.events));
  }
}

/** What is left when it is over: the backup, the tables, the logs, and what it prints when it fails. */
async function collect({ product, scene, databaseUrl, dataDirectory, environment }: House, folder: string) {
  const { recorder } = scene;
  const file = join(folder, "evening.backup");
  recorder.keep("what making a backup printed", await product.must("backup", "create", file));
  recorder.keep("the backup", readFileSync(file, "latin1"));
  await product.end("SIGTERM");
  recorder.keep("a copy of all tables", await copyOfAllTables(databaseUrl));
  recorder.keep("what the product printed", product.printed());
  for (const path of filesUnder(dataDirectory))
    recorder.keep(`the file ${path.slice(dataDirectory.length)}`, readFileSync(path, "latin1"));
  const absent = withUrl(environment["DATABASE_URL"] ?? "", { database: "absent" });
  const { code, stdout, stderr } = await setpointIn({ ...process.env, ...environment, DATABASE_URL: absent })(
    "backup",
    "create",
    join(folder, "none.backup"),
  );
  assert.notEqual(code, 0);
  recorder.keep("a backup of a database that is not there", stdout + stderr);
}

/** Goal: a secret is where it is used and where it is shown once, and nowhere else, however things go wrong. */
test("no canary is seen anywhere", { timeout: 10 * 60_000 }, async () => {
  await using undo = new AsyncDisposableStack();
  const canaries = new Canaries();
  const folder = undo.use(temporaryFolder());
  const house = await openHouse(undo, canaries, folder.path);
  await live(house);
  await collect(house, folder.path);
  const { recorder } = house.scene;
  const text = readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8");
  // A passkey's session is one like the others, and needs an authenticator.
  const elsewhere = ["POST /v1/session/passkey gives token"];
  const unused = recorder.unused(secretFields(JSON.parse(text) as OpenApiDocument));
  assert.deepEqual(unused, elsewhere, "every secret field of the API had a canary");
  assert.ok(canaries.whats.length >= 45, `${canaries.whats.length} canaries`);
  assert.deepEqual([...new Set(recorder.sightings())], []);
});
