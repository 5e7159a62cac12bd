import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * For the data of a product that a test starts. Whoever the database runs as can reach it: run as root, the product would otherwise
 * keep its data elsewhere, where nobody removes it after the test.
 */
export function productFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `setpoint-${name}-`));
  chmodSync(folder, 0o711);
  return folder;
}
