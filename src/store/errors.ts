import { thrownMessage } from "../kernel/errors.ts";
/** Every way the store can fail as a whole. What it answers in the course of business is in its ports. */
export type StoreErrorCode =
  | "DATABASE_UNREACHABLE"
  | "DATABASE_REFUSED"
  | "DATABASE_MISSING"
  | "DATABASE_TOO_OLD"
  | "DATABASE_FROM_FUTURE"
  | "DATABASE_NOT_MIGRATED"
  | "MIGRATION_CHANGED"
  | "ROLES_MISSING"
  | "DISK_FULL"
  | "DATABASE_BUSY"
  | "TENANT_MISSING"
  | "ALREADY_EXISTS"
  | "NOT_FOUND"
  | "BAD_VALUE"
  | "INTERNAL";

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** Whether the same request may succeed later with nothing changed. A lost connection means "perhaps it happened". */
  readonly retryable: boolean;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.code = code;
    this.retryable = code === "DATABASE_UNREACHABLE" || code === "DISK_FULL" || code === "DATABASE_BUSY";
  }
}

/** The store refuses a write because another row stands in its way; the code says which. */
export class StoreConflict extends Error {
  readonly code: "SECOND_CLAIMANT";

  constructor(code: "SECOND_CLAIMANT", message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreConflict";
    this.code = code;
  }
}

/** SQLSTATE of the refusals our own SQL raises. */
const secondClaimantState = "SP001";
const tenantMissingState = "SP002";
const scopeGoneState = "SP003";

/** The transaction lost against another one and may simply run again. */
export function isRace(thrown: unknown): boolean {
  const state = stateOf(thrown);
  return state === "40001" || state === "40P01";
}

/** The server judged the request itself: another request in the same batch may well succeed. */
export function isAboutTheRequest(thrown: unknown): boolean {
  return thrown instanceof StoreConflict || (thrown instanceof StoreError && !thrown.retryable);
}

/** The one place where what the driver or the server threw becomes something with a message and a way out. */
export function toStoreError(thrown: unknown): StoreError | StoreConflict {
  if (thrown instanceof StoreError || thrown instanceof StoreConflict) return thrown;
  const message = thrownMessage(thrown);
  const state = stateOf(thrown);
  if (state === undefined) return connectionError(thrown, message);
  if (state === secondClaimantState) return new StoreConflict("SECOND_CLAIMANT", message, { cause: thrown });
  const known = byState(state);
  if (known === undefined) {
    return new StoreError("INTERNAL", `PostgreSQL refused a statement of the store (${state}): ${message}`, {
      cause: thrown,
    });
  }
  return new StoreError(known.code, `${known.say}: ${message}. ${known.todo}`, { cause: thrown });
}

interface Explanation {
  readonly code: StoreErrorCode;
  readonly say: string;
  readonly todo: string;
}

const diskFull: Explanation = {
  code: "DISK_FULL",
  say: "The disk of the database is full",
  todo: "Nothing was written. Free some space on the disk that holds the data directory; work resumes by itself.",
};
const busy: Explanation = {
  code: "DATABASE_BUSY",
  say: "PostgreSQL could not do this in time",
  todo: "Nothing was written. Try again; if it stays, look for a long transaction in pg_stat_activity.",
};
const refused: Explanation = {
  code: "DATABASE_REFUSED",
  say: "PostgreSQL refused the login",
  todo: "Check the user and the password in DATABASE_URL, and pg_hba.conf on the server.",
};
const badValue: Explanation = {
  code: "BAD_VALUE",
  say: "PostgreSQL cannot store this value",
  todo: "Nothing was written. Remove characters such as U+0000 and keep numbers within their range.",
};

function byState(state: string): Explanation | undefined {
  if (state === "53100" || state === "58030") return diskFull;
  if (state === "55P03" || state === "57014" || state === "40001" || state === "40P01") return busy;
  if (state === "28P01" || state === "28000") return refused;
  if (state.startsWith("22") || state === "23514") return badValue;
  if (state === "23505") {
    return {
      code: "ALREADY_EXISTS",
      say: "It exists already",
      todo: "Nothing was written. Choose another id or name.",
    };
  }
  if (state === "3D000") {
    return { code: "DATABASE_MISSING", say: "The database is missing", todo: "Create it, or correct DATABASE_URL." };
  }
  if (state === scopeGoneState) {
    return { code: "NOT_FOUND", say: "There is no such scope", todo: "Nothing was written. Create it again first." };
  }
  if (state === tenantMissingState) {
    return { code: "TENANT_MISSING", say: "A statement ran without a tenant", todo: "This is a fault in Setpoint." };
  }
  if (state === "3F000" || state === "42P01") {
    return {
      code: "DATABASE_NOT_MIGRATED",
      say: "The database has no Setpoint schema",
      todo: "Run the migrations first: `setpoint migrate`, or start one role with them enabled.",
    };
  }
  // Class 08 and 57P: the connection broke or the server is going down or coming up; 53300: no free connection. 08P01 is a
  // message that makes no sense, which is our own fault.
  if ((state.startsWith("08") && state !== "08P01") || state.startsWith("57P") || state === "53300") {
    return {
      code: "DATABASE_UNREACHABLE",
      say: "PostgreSQL is not taking connections",
      todo: "Work resumes by itself when it does.",
    };
  }
  return undefined;
}

function connectionError(cause: unknown, message: string): StoreError {
  // The driver has no codes for a broken connection, but it throws these for values it cannot handle.
  if (cause instanceof TypeError || cause instanceof RangeError || cause instanceof SyntaxError) {
    return new StoreError("INTERNAL", `A value did not pass between Setpoint and PostgreSQL: ${message}`, { cause });
  }
  return new StoreError(
    "DATABASE_UNREACHABLE",
    `PostgreSQL cannot be reached: ${message}. Check that the server runs and that DATABASE_URL names its host and port.`,
    { cause },
  );
}

function stateOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if (thrown instanceof StoreError) return stateOf(thrown.cause);
  const code = "code" in thrown ? thrown.code : undefined;
  // Driver and system errors have names (ECONNREFUSED); the server's codes are five characters with a severity.
  return typeof code === "string" && "severity" in thrown ? code : undefined;
}
