/**
 * How the embedded server runs. They are given on the command line, so that nothing stored in the data directory
 * (an `alter system` of long ago) can change them unseen.
 */
export const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  // An acknowledged write survives a power cut. These are PostgreSQL's defaults; they are named because we rely on them.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",

  // Recovery after a kill reads the log since the last checkpoint: 12 s were measured with 4 GB, 3 s with 256 MB.
  max_wal_size: "256MB",
  min_wal_size: "80MB",
  // `minimal` would save log volume only when tables are rewritten in bulk, and rules out online base backups.
  wal_level: "replica",

  shared_buffers: "128MB",
  max_connections: "100",
  // Our statements are short: compiling them costs more than running them.
  jit: "off",

  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] ",
  unix_socket_permissions: "0700",
};

const SETTING_NAME = /^[a-z_][a-z0-9_.]*$/;

/** The `-c name=value` words of a set of settings. */
export function toArguments(settings: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (!SETTING_NAME.test(name)) throw new TypeError(`"${name}" is not the name of a PostgreSQL setting`);
    return ["-c", `${name}=${value}`];
  });
}
