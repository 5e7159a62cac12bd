import type { Config } from "../../config.ts";

/** The demo's own port, beside the API's: the simulated provider, and the tray that breaks it. */
export function demoPortOf({ port }: Pick<Config, "port">): number {
  return port === 65_535 ? port - 1 : port + 1;
}
