/** A message that breaks the format. Whoever asked turns it into an error that names the server and the question. */
export class WireError extends Error {
  override readonly name = "WireError";
}
