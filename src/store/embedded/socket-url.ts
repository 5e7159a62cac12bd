import { SUPERUSER } from "./initdb.ts";
import { DATABASE } from "./launch.ts";

/** The name of the socket; nothing listens on this port unless TCP was asked for. */
export const SOCKET_PORT = 5432;

/** The host in the query wins over the one before the path, which is there so that any parser takes the URL. */
export function socketUrl(at: {
  readonly password: string;
  readonly port: number;
  readonly socketDirectory: string;
}): string {
  return `postgres://${SUPERUSER}:${at.password}@localhost:${at.port}/${DATABASE}?host=${encodeURIComponent(at.socketDirectory)}`;
}
