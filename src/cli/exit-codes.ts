import type { ProblemCode } from "../control-api/schemas/common.ts";

/** What a script can tell apart. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** Only with --detailed-exitcode: there is something to change. */
  changes: 2,
  notAllowed: 3,
  operationFailed: 4,
  refusedByGuard: 5,
  notFound: 6,
  cancelled: 8,
  timedOut: 9,
  waitingForApproval: 10,
  frozen: 11,
  conflict: 12,
  usage: 64,
} as const;

/** Total over the API's codes, so a new one does not compile until somebody decides what scripts see. */
const ofProblem: Readonly<Record<ProblemCode, number>> = {
  UNAUTHENTICATED: exitCodes.notAllowed,
  NOT_FOUND: exitCodes.notFound,
  ORGANIZATION_UNKNOWN: exitCodes.notFound,
  SCOPE_UNKNOWN: exitCodes.notFound,
  KIND_UNKNOWN: exitCodes.usage,
  ACCOUNT_UNKNOWN: exitCodes.usage,
  PROVIDER_UNKNOWN: exitCodes.usage,
  BODY_INVALID: exitCodes.usage,
  FIELDS_INVALID: exitCodes.usage,
  MODE_REQUIRED: exitCodes.usage,
  SCOPE_NOT_ALLOWED: exitCodes.usage,
  NAME_MISMATCH: exitCodes.usage,
  ALREADY_EXISTS: exitCodes.conflict,
  BEING_DELETED: exitCodes.conflict,
  REVISION_CONFLICT: exitCodes.conflict,
  COUNT_MISMATCH: exitCodes.refusedByGuard,
  GUARD_REFUSED: exitCodes.refusedByGuard,
  DIGEST_MOVED: exitCodes.conflict,
  HELD_CHANGE_CLOSED: exitCodes.conflict,
  OPERATION_STATE: exitCodes.conflict,
  FOUR_EYES: exitCodes.refusedByGuard,
  PRINCIPAL_REFUSED: exitCodes.notAllowed,
  FORBIDDEN: exitCodes.notAllowed,
  STEP_UP_REQUIRED: exitCodes.notAllowed,
  SIGN_IN_REFUSED: exitCodes.notAllowed,
  RATE_LIMITED: exitCodes.failed,
  ENTITY_STATUS: exitCodes.refusedByGuard,
  QUOTA_EXCEEDED: exitCodes.refusedByGuard,
  PRECONDITION_REQUIRED: exitCodes.conflict,
  OWNER_CONFLICT: exitCodes.conflict,
  IN_USE: exitCodes.conflict,
  REFERENCE_INVALID: exitCodes.usage,
  IDEMPOTENCY_REUSED: exitCodes.usage,
  IDEMPOTENCY_IN_FLIGHT: exitCodes.conflict,
  CURSOR_GONE: exitCodes.failed,
  PASSWORD_WEAK: exitCodes.usage,
  CREDENTIAL_SCOPE: exitCodes.usage,
  TOO_LARGE: exitCodes.usage,
  METHOD_UNKNOWN: exitCodes.failed,
  UNAVAILABLE: exitCodes.failed,
  INTERNAL: exitCodes.failed,
};

export function exitCodeOf(code: ProblemCode): number {
  return ofProblem[code];
}
