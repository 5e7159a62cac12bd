import type { SeededRandom } from "../sim/random.ts";

export interface RawRequest {
  readonly bytes: Buffer;
  /** Nothing follows although more was announced: whoever sent it hangs up, and nobody owes them an answer. */
  readonly hangsUp: boolean;
}

/** Requests that no HTTP client would send. */
export function rawRequest(random: SeededRandom, token: string): RawRequest {
  const hangsUp = random.chance(0.15);
  const text = random.pick(hangsUp ? unfinished(token) : finished(token)) ?? "";
  return { bytes: Buffer.from(text, "latin1"), hangsUp };
}

const proofOf = (token: string) => `Host: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`;
const postOf = (token: string) =>
  `POST /v1/organizations HTTP/1.1\r\n${proofOf(token)}Content-Type: application/json\r\n`;

function unfinished(token: string): readonly string[] {
  const post = postOf(token);
  return [
    "\r\n\r\n",
    "GET /v1/organ",
    `${post}Content-Length: 99999999999\r\n\r\n{}`,
    `${post}Content-Length: 100\r\n\r\n{"name":`,
    `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{`,
    `CONNECT example.test:443 HTTP/1.1\r\n${proofOf(token)}\r\n`,
  ];
}

function finished(token: string): readonly string[] {
  const [proof, post] = [proofOf(token), postOf(token)];
  return [
    "GET\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "\u0016\u0003\u0001\u0002\u0000\u0001",
    `GET /v1/organizations HTTP/1.1\r\nConnection: close\r\n\r\n`,
    `GET /v1/organizations HTTP/1.1\r\n${proof}X: ${"y".repeat(40_000)}\r\n\r\n`,
    `GET /v1/organizations HTTP/1.1\r\n${proof}${Array.from({ length: 3_000 }, (_, at) => `X-${at}: y\r\n`).join("")}\r\n`,
    `GET /${"a".repeat(20_000)} HTTP/1.1\r\n${proof}\r\n`,
    `GET /v1/organizations\u0000 HTTP/1.1\r\n${proof}\r\n`,
    `GET /v1/organizations HTTP/1.1\r\n${proof}Bad Header: x\r\n\r\n`,
    `GET /v1/organizations HTTP/1.1\r\n${proof}X: a\u0000b\r\n\r\n`,
    `GET http://elsewhere/v1/organizations HTTP/1.1\r\n${proof}\r\n`,
    `GET /%761/organizations HTTP/1.1\r\n${proof}\r\n`,
    "GET /%76%31/organizations HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET http://elsewhere/v1/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    `GET * HTTP/1.1\r\n${proof}\r\n`,
    `GET // HTTP/1.1\r\n${proof}\r\n`,
    `TRACE / HTTP/1.1\r\n${proof}\r\n`,
    `NONSENSE / HTTP/1.1\r\n${proof}\r\n`,
    `PROPFIND /v1/organizations HTTP/1.1\r\n${proof}\r\n`,
    `${post}Content-Length: -1\r\n\r\n{}`,
    `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `,
    `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    `${post}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
    `${post}Expect: the-unexpected\r\nContent-Length: 2\r\n\r\n{}`,
    `GET /v1/organizations HTTP/1.1\r\n${proof}Upgrade: websocket\r\n\r\n`,
  ];
}
