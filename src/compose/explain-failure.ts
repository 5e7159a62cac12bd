import { ConfigError } from "../config.ts";
import { thrownMessage } from "../kernel/errors.ts";
import { BackupError } from "../store/backup/backup-error.ts";
import { EmbeddedServerError } from "../store/embedded/errors.ts";
import { StoreError } from "../store/errors.ts";
import { StartError } from "./start-error.ts";

/** One message for a person. Our own errors say what to do; of anything else only the first line is fit to be shown. */
export function explainFailure(thrown: unknown): string {
  if (
    thrown instanceof ConfigError ||
    thrown instanceof StartError ||
    thrown instanceof StoreError ||
    thrown instanceof EmbeddedServerError ||
    thrown instanceof BackupError
  ) {
    return thrown.message;
  }
  const message = thrownMessage(thrown);
  return `Unexpected failure: ${message.split("\n")[0] ?? ""}. The log has the details; --debug prints them.`;
}
