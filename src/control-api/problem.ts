import type { Verdict } from "../ports/records.ts";
import type { ProblemCode, ProblemDocument } from "./schemas/common.ts";

/** The HTTP status of each code. Total over the codes, so a new one does not compile until somebody decides it. */
const statusOf: Readonly<Record<ProblemCode, number>> = {
  UNAUTHENTICATED: 401,
  NOT_FOUND: 404,
  ORGANIZATION_UNKNOWN: 404,
  SCOPE_UNKNOWN: 404,
  KIND_UNKNOWN: 404,
  ACCOUNT_UNKNOWN: 422,
  PROVIDER_UNKNOWN: 422,
  BODY_INVALID: 400,
  FIELDS_INVALID: 422,
  MODE_REQUIRED: 422,
  SCOPE_NOT_ALLOWED: 422,
  NAME_MISMATCH: 422,
  ALREADY_EXISTS: 409,
  BEING_DELETED: 409,
  REVISION_CONFLICT: 412,
  COUNT_MISMATCH: 409,
  GUARD_REFUSED: 409,
  DIGEST_MOVED: 409,
  HELD_CHANGE_CLOSED: 409,
  OPERATION_STATE: 409,
  FOUR_EYES: 403,
  PRINCIPAL_REFUSED: 403,
  FORBIDDEN: 403,
  STEP_UP_REQUIRED: 403,
  SIGN_IN_REFUSED: 401,
  RATE_LIMITED: 429,
  ENTITY_STATUS: 409,
  QUOTA_EXCEEDED: 409,
  PRECONDITION_REQUIRED: 428,
  OWNER_CONFLICT: 409,
  IN_USE: 409,
  REFERENCE_INVALID: 422,
  IDEMPOTENCY_REUSED: 422,
  IDEMPOTENCY_IN_FLIGHT: 409,
  CURSOR_GONE: 410,
  PASSWORD_WEAK: 422,
  CREDENTIAL_SCOPE: 422,
  TOO_LARGE: 413,
  METHOD_UNKNOWN: 405,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

const titleOf: Readonly<Record<ProblemCode, string>> = {
  UNAUTHENTICATED: "Not signed in",
  NOT_FOUND: "Not found",
  ORGANIZATION_UNKNOWN: "Unknown organization",
  SCOPE_UNKNOWN: "Unknown project or workspace",
  KIND_UNKNOWN: "Unknown kind",
  ACCOUNT_UNKNOWN: "Unknown account",
  PROVIDER_UNKNOWN: "Unknown provider",
  BODY_INVALID: "The request cannot be read",
  FIELDS_INVALID: "Some fields are not valid",
  MODE_REQUIRED: "A mode must be named",
  SCOPE_NOT_ALLOWED: "This kind does not live in this scope",
  NAME_MISMATCH: "The path and the body name different things",
  ALREADY_EXISTS: "It exists already",
  BEING_DELETED: "It is being deleted",
  REVISION_CONFLICT: "It was changed by somebody else",
  COUNT_MISMATCH: "The confirmed count is not the real one",
  GUARD_REFUSED: "A guard refused",
  DIGEST_MOVED: "What waits has changed",
  HELD_CHANGE_CLOSED: "The held change is closed",
  OPERATION_STATE: "The operation does not stand like that",
  FOUR_EYES: "Somebody else must approve",
  PRINCIPAL_REFUSED: "Only a person may do this",
  FORBIDDEN: "Not allowed",
  STEP_UP_REQUIRED: "Prove that it is you",
  SIGN_IN_REFUSED: "Sign-in refused",
  RATE_LIMITED: "Too many requests",
  ENTITY_STATUS: "The organization's status does not allow this",
  QUOTA_EXCEEDED: "A quota is used up",
  PRECONDITION_REQUIRED: "Say which revision you mean",
  OWNER_CONFLICT: "A field has another owner",
  IN_USE: "Something else needs it",
  REFERENCE_INVALID: "It refers to something that cannot be used",
  IDEMPOTENCY_REUSED: "The idempotency key was used for something else",
  IDEMPOTENCY_IN_FLIGHT: "The first request is still running",
  CURSOR_GONE: "The cursor is too old",
  PASSWORD_WEAK: "The password is too weak",
  CREDENTIAL_SCOPE: "A token cannot have more than its maker",
  TOO_LARGE: "The request is too large",
  METHOD_UNKNOWN: "This path does not have this method",
  UNAVAILABLE: "Not available right now",
  INTERNAL: "Something went wrong",
};

export interface ProblemDetails {
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[] | undefined;
  readonly verdict?: Verdict | undefined;
  readonly digest?: string | undefined;
  readonly heldChange?: string | undefined;
  readonly revision?: number | undefined;
  readonly changed?: NonNullable<ProblemDocument["changed"]> | undefined;
  readonly owners?: NonNullable<ProblemDocument["owners"]> | undefined;
  readonly users?: NonNullable<ProblemDocument["users"]> | undefined;
  readonly quota?: NonNullable<ProblemDocument["quota"]> | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** An answer that is not a success. The message is for the person who asked: what, what was expected, what to do. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message);
    this.name = "Problem";
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return statusOf[this.code];
  }

  toDocument(requestId: string | undefined): ProblemDocument {
    const { errors, verdict, digest, heldChange, revision, changed, owners, users, quota } = this.details;
    return {
      type: `urn:setpoint:problem:${this.code.toLowerCase().replaceAll("_", "-")}`,
      title: titleOf[this.code],
      status: this.status,
      detail: this.message,
      code: this.code,
      ...(requestId === undefined ? {} : { requestId }),
      ...(errors === undefined ? {} : { errors: [...errors] }),
      ...(verdict === undefined ? {} : { verdict: { ...verdict, keys: [...verdict.keys] } }),
      ...(digest === undefined ? {} : { digest }),
      ...(heldChange === undefined ? {} : { heldChange }),
      ...(revision === undefined ? {} : { revision }),
      ...(changed === undefined ? {} : { changed }),
      ...(owners === undefined ? {} : { owners }),
      ...(users === undefined ? {} : { users }),
      ...(quota === undefined ? {} : { quota }),
    };
  }
}
