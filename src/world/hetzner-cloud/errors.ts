/** A refusal in Hetzner Cloud's own words. */
export class HetznerError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(status: number, code: string, message: string, details?: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = "HetznerError";
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export function errorBody(code: string, message: string, details?: Readonly<Record<string, unknown>>): unknown {
  return { error: { code, message, details: details ?? null } };
}

export function notFound(what: string, id: string | number): HetznerError {
  return new HetznerError(404, "not_found", `${what} with ID '${id}' not found`);
}

export function invalidInput(field: string, message: string): HetznerError {
  return new HetznerError(422, "invalid_input", `invalid input in field '${field}': ${message}`, {
    fields: [{ name: field, messages: [message] }],
  });
}

export function notUnique(what: string, field: string): HetznerError {
  return new HetznerError(409, "uniqueness_error", `${what} ${field} is already used`, { fields: [{ name: field }] });
}

export function refused(code: string, message: string, status = 422): HetznerError {
  return new HetznerError(status, code, message);
}

export function isProtected(what: string): HetznerError {
  return new HetznerError(423, "protected", `${what} deletion is protected`);
}

export function overLimit(limit: string): HetznerError {
  return new HetznerError(403, "resource_limit_exceeded", `${limit} exceeded`, { limits: [{ name: limit }] });
}
