import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Leaves word for the command line, beside the operator's token, of the port that the API listens on. */
export function tellPort(dataDirectory: string, port: number): void {
  writeFileSync(join(dataDirectory, "api.port"), `${port}\n`);
}
