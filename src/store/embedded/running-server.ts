import { existsSync } from "node:fs";
import { openDataDirectory } from "./data-directory.ts";
import { readPassword } from "./initdb.ts";
import { isServing } from "./previous-server.ts";
import { prepareSocketDirectory } from "./socket-directory.ts";
import { SOCKET_PORT, socketUrl } from "./socket-url.ts";

/** The URL of the server that another process of this machine keeps running on a data directory; undefined if none does. */
export async function runningServerUrl(dataDirectory: string): Promise<string | undefined> {
  if (!existsSync(dataDirectory)) return undefined;
  const data = openDataDirectory(dataDirectory, () => undefined);
  if (!existsSync(data.pgData)) return undefined;
  const socketDirectory = prepareSocketDirectory(data.path, SOCKET_PORT, data.user);
  if (!(await isServing(socketDirectory))) return undefined;
  return socketUrl({ password: readPassword(data.path), port: SOCKET_PORT, socketDirectory });
}
