import { closeSync, fstatSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

const defaultMaxBytes = 16 * 1024 * 1024;
const kept = 3;

export interface LogFile extends Disposable {
  readonly path: string;
  write(text: string): void;
}

/** A log that cannot fill the disk: past its limit it is renamed to .1, .1 to .2, and the oldest goes. Writing never throws. */
export function openLogFile(path: string, maxBytes = defaultMaxBytes): LogFile {
  let file = openSync(path, "a", 0o600);
  let bytes = fstatSync(file).size;
  const rotate = () => {
    closeSync(file);
    rmSync(`${path}.${kept}`, { force: true });
    for (let age = kept - 1; age >= 0; age--) moveIfThere(age === 0 ? path : `${path}.${age}`, `${path}.${age + 1}`);
    file = openSync(path, "a", 0o600);
    bytes = 0;
  };
  return {
    path,
    write: (text) => {
      try {
        if (bytes > maxBytes) rotate();
        bytes += writeSync(file, text);
      } catch {
        // A full disk must not stop the work that the log is about.
      }
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // There is no file of that age yet.
  }
}
