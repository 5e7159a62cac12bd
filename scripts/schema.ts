// `npm run schema`: writes the database schema, as the catalogue of a freshly migrated server tells it, to
// docs/schema.txt. With --check it only compares, for `npm run verify`.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedServer } from "../src/store/embedded/server.ts";
import { migrate } from "../src/store/migrate.ts";
import { schemaText } from "./schema-text.ts";

const file = new URL("../docs/schema.txt", import.meta.url);

async function currentSchema(): Promise<string> {
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "setpoint-schema-"));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  // As root the server runs as another user, who must be able to enter.
  chmodSync(folder, 0o711);
  const silence = () => undefined;
  const settings = { fsync: "off", full_page_writes: "off" };
  const server = undo.use(
    await startEmbeddedServer({
      dataDirectory: join(folder, "data"),
      log: silence,
      settings,
      initdbArguments: ["--no-sync"],
    }),
  );
  await migrate({ url: server.url, log: { debug: silence, info: silence, warn: silence, error: silence } });
  const client = new pg.Client(server.url);
  await client.connect();
  undo.defer(() => client.end());
  return await schemaText(client);
}

const text = await currentSchema();
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
  console.log("docs/schema.txt is written");
} else if (readIfThere() === text) {
  console.log("docs/schema.txt is what the migrations make");
} else {
  console.error("docs/schema.txt is not what the migrations make. Run `npm run schema` and look at the difference.");
  process.exitCode = 1;
}

function readIfThere(): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
