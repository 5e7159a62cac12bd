import { deflateSync, gzipSync } from "node:zlib";
import type { SeededRandom } from "../sim/random.ts";

export interface Body {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const json = { "content-type": "application/json" };
const bytes = (text: string, headers: Readonly<Record<string, string>> = json): Body => ({
  bytes: Buffer.from(text),
  headers,
});
const megabyte = 1024 * 1024;

/** What no program that means well sends, made from a body that might be fine. */
export function brokenBody(value: unknown, random: SeededRandom): Body {
  const text = JSON.stringify(value ?? {});
  const fields = text.startsWith("{") && text.length > 2 ? `,${text.slice(1)}` : "}";
  const ways: readonly (() => Body)[] = [
    () => bytes(`${'{"a":'.repeat(random.int(60, 70))}1${"}".repeat(random.int(60, 70))}`),
    () => bytes("[".repeat(200_000)),
    () => bytes(`{"a":${"[".repeat(63)}${"]".repeat(63)}${fields}`),
    () => bytes(`{"name":"a","name":"b"${fields}`),
    () => bytes(`{"n\\u0061me":"a","name":"b"${fields}`),
    () => bytes(`{"__proto__":{"polluted":true}${fields}`),
    () => bytes(`{"\\u005f_proto__":{"polluted":true}${fields}`),
    () => bytes(`{"constructor":{"prototype":{"polluted":true}}${fields}`),
    () => bytes(`{"metadata":{"labels":{"constructor":"x","toString":"y"}}${fields}`),
    () => bytes(`{"padding":"${"x".repeat(megabyte)}"}`),
    () => bytes(`{"padding":"${"x".repeat(megabyte - 100)}"}`),
    () => bytes(`[${"1,".repeat(200_000)}1]`),
    () => bytes(`{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":0`).join()}}`),
    () => bytes(text.slice(0, random.int(0, text.length))),
    () => bytes(`${text}${text}`),
    () => bytes(`${text} // done`),
    () => bytes(""),
    () => bytes(random.choose("null", "true", "0", '"text"', "[]", "{}", " ", "\n", "NaN", "-", "1e999")),
    () => bytes(`\ufeff${text}`),
    () => ({ bytes: Buffer.from(text, "utf16le"), headers: { "content-type": "application/json; charset=utf-16" } }),
    () => ({
      bytes: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from('"}')]),
      headers: json,
    }),
    () => ({ bytes: Buffer.from(text, "latin1"), headers: { "content-type": "application/json; charset=latin1" } }),
    () => ({ bytes: gzipSync(text), headers: { ...json, "content-encoding": "gzip" } }),
    () => bytes(text, { ...json, "content-encoding": random.choose("gzip", "deflate", "br", "identity", "nonsense") }),
    () => ({ bytes: deflateSync(text), headers: json }),
    () =>
      bytes(text, {
        "content-type": random.choose(
          "text/plain",
          "application/xml",
          "multipart/form-data",
          "application/x-www-form-urlencoded",
          "",
          "application/json;",
          "application/jsonp",
          "APPLICATION/JSON",
          "application/apply+json",
          "application/merge-patch+json",
          ";",
          "a/b/c",
          "application/json, text/plain",
        ),
      }),
    () => ({ bytes: Buffer.from(text), headers: {} }),
  ];
  return (random.pick(ways) ?? (() => bytes("")))();
}
