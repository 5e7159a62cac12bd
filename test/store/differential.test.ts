import { after, before, test } from "node:test";
import { openReplay } from "./support/differential.ts";
import { startStoreServer, type StoreServer } from "./support/stores.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

test("the PostgreSQL store and its in-memory twin agree on random histories", async () => {
  await using replay = openReplay(await server.createDatabase());
  for (let seed = 1; seed <= 20; seed++) await replay.run(seed, 150);
});
