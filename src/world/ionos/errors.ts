/** A refusal in IONOS's own words. */
export class IonosError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "IonosError";
    this.status = status;
    this.code = code;
  }
}

export function errorBody(httpStatus: number, errorCode: string, message: string): unknown {
  return { httpStatus, messages: [{ errorCode, message }] };
}

export function missing(): IonosError {
  return new IonosError(404, "309", "Resource does not exist");
}

export function invalid(where: string, message: string): IonosError {
  return new IonosError(422, "100", `[(root)${where === "" ? "" : `.${where}`}] ${message}`);
}

export function overLimit(limit: string): IonosError {
  return new IonosError(422, "200", `[VDC-14-1800] The contract's limit ${limit} would be exceeded`);
}

export function notAvailable(location: string): IonosError {
  return new IonosError(503, "600", `[VDC-6-601] Resources in ${location} are currently not available`);
}

export function locked(): IonosError {
  const message = "[VDC-5-1818] Operation cannot be executed since this resource is locked by another process.";
  return new IonosError(423, "332", message);
}
