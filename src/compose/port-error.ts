import { StartError } from "./start-error.ts";

/** Nothing listens anywhere else: at this stage whoever holds the token is the operator. */
export const listenAddress = "127.0.0.1";

/** What a failure to listen means for the person who started it. */
export function portError(thrown: unknown, port: number, otherwise?: string): Error {
  const code = (thrown as NodeJS.ErrnoException).code;
  const next = port === 65_535 ? port - 1 : port + 1;
  if (code === "EADDRINUSE") {
    return new StartError(
      `Port ${port} on ${listenAddress} is in use by another program. Stop it, or choose another port: ${otherwise === undefined ? `SETPOINT_PORT=${next} npm start` : `${otherwise} ${next}`}`,
      { cause: thrown },
    );
  }
  if (code === "EACCES")
    return new StartError(`Port ${port} may not be used by this user. Choose one above 1023 with SETPOINT_PORT.`, {
      cause: thrown,
    });
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
