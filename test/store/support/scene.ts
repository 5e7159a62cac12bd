import { openStores, type Stores, startStoreServer } from "./stores.ts";
import { makeWorld, type World } from "./world.ts";

/** A world in a database of its own, on a server of its own. */
export interface Scene extends AsyncDisposable {
  readonly stores: Stores;
  readonly world: World;
}

/** `sent` is told the name of every statement on its way to the server. */
export async function openScene(sent: (name: string) => void = () => {}): Promise<Scene> {
  await using undo = new AsyncDisposableStack();
  const server = undo.use(await startStoreServer());
  const stores = undo.use(
    openStores(await server.createDatabase(), { onStatement: ({ statement }) => sent(statement.name) }),
  );
  const world = await makeWorld(stores);
  const kept = undo.move();
  return { stores, world, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
