import type { Socket } from "node:net";
import { Problem } from "../problem.ts";
import { alwaysHeaders } from "./security-headers.ts";

/** What the HTTP parser itself could not read never becomes a request; it is answered in the same form all the same. */
export function answerUnreadable(error: Error & { readonly code?: string | undefined }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) return void socket.destroy();
  const problem = problemOf(error.code);
  const body = JSON.stringify(problem.toDocument(undefined));
  const headers = {
    ...alwaysHeaders,
    "content-type": "application/problem+json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.status === 413 ? "Content Too Large" : "Bad Request"}\r\n${lines.join("")}\r\n${body}`,
  );
}

function problemOf(code: string | undefined): Problem {
  if (code === "HPE_HEADER_OVERFLOW")
    return new Problem("TOO_LARGE", "The headers are larger than 16 KiB: send fewer or shorter ones");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new Problem("BODY_INVALID", "The request did not arrive in time: send it again, faster");
  return new Problem(
    "BODY_INVALID",
    "This is not an HTTP request that can be read: check the method, the headers and the length",
  );
}
