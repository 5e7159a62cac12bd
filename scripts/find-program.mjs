import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Servers live in sbin folders that an ordinary user's PATH leaves out. */
const serverFolders = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/**
 * @param {string} program a name, or a path
 * @returns {string | undefined} where it is
 */
export function findProgram(program) {
  const folders = [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), ...serverFolders];
  const candidates = program.includes("/") ? [program] : folders.map((folder) => join(folder, program));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
