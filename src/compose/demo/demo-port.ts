import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../../config.ts";

type Where = Pick<Config, "port" | "dataDirectory">;

/**
 * The demo's own port: the simulated providers, and the tray that breaks them. It is beside the API's when the demo is made and stays
 * the same from then on, wherever the API listens later: the accounts of the demo name it.
 */
export function demoPortOf({ port, dataDirectory }: Where): number {
  const file = fileOf(dataDirectory);
  if (existsSync(file)) return Number(readFileSync(file, "utf8"));
  return port === 65_535 ? port - 1 : port + 1;
}

export function keepDemoPort({ dataDirectory }: Where, port: number): void {
  const file = fileOf(dataDirectory);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${port}\n`);
}

function fileOf(dataDirectory: string): string {
  return join(dataDirectory, "demo", "outside.port");
}
