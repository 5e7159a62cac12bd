import { after, before, test } from "node:test";
import { openReplay } from "../store/support/differential.ts";
import { type StoreServer, startStoreServer } from "../store/support/stores.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

test("the PostgreSQL store and its in-memory twin agree on many long histories", async () => {
  await using replay = openReplay(await server.createDatabase());
  for (let seed = 1_001; seed <= 1_300; seed++) await replay.run(seed, 250);
});
