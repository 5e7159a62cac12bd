import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { heartbeatMs } from "../../src/control-api/watch/watch-stream.ts";
import { startTestApi, type TestApi, token, whatever } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { openWatch, type WatchEvent } from "../support/watch-reader.ts";
import { addLab, base, declare, record, zone } from "../support/zones.ts";

let api: TestApi;
let clock: ManualClock;
let origin: string;
/** The connections as the server sees them, by the port at the other end. */
const served = new Map<number, Socket>();

before(async () => {
  clock = new ManualClock(Date.now());
  api = await startTestApi({ clock });
  await addLab(api);
  api.app.server.on("connection", (socket: Socket) => served.set(socket.remotePort ?? 0, socket));
  origin = await api.app.listen({ host: "127.0.0.1", port: 0 });
});
after(() => api[Symbol.asyncDispose]());

const isType = (type: string) => (event: WatchEvent) => event.event === type;
const isOf = (name: string) => (event: WatchEvent) => (event.data.object?.metadata.name ?? event.data.name) === name;
const watching = (plural: string, headers?: Record<string, string>) =>
  openWatch(`${origin}${base}/${plural}?watch=true`, headers);

test("a watch in which nothing happens says now and then that it is still there", async () => {
  const watch = await watching("dnszones");
  await watch.next(isType("SYNCED"));
  for (let beats = 0; beats < 3; beats++) {
    clock.advance(heartbeatMs - 1);
    assert.equal(watch.events.filter(isType("COMMENT")).length, beats, "not before its time");
    clock.advance(1);
    assert.ok(await watch.next(isType("COMMENT")));
  }
  assert.equal(watch.events.filter(isType("BOOKMARK")).length, 0, "its position is the one that it was told");
  watch.close();
});

test("when only others change, a bookmark moves the place to go on from", async () => {
  await declare(api, zone("first"));
  await api.seal();
  const watch = await watching("dnszones");
  const synced = await watch.next(isType("SYNCED"));
  const other = await watching("dnsrecords");
  await other.next(isType("SYNCED"));
  await declare(api, record("www", "first"));
  await api.seal();
  // All are told at once: when the other one knows, this one does.
  const elsewhere = await other.next(isOf("www"));
  clock.advance(heartbeatMs);
  const bookmark = await watch.next(isType("BOOKMARK"));
  const positionOf = (id: string | undefined) => Number(id?.split(".")[1]);
  assert.ok(positionOf(bookmark?.id) > positionOf(synced?.id));
  assert.equal(bookmark?.id, elsewhere?.id);
  assert.equal(bookmark?.data.position, bookmark?.id);
  clock.advance(heartbeatMs);
  await watch.next(isType("COMMENT"));
  assert.equal(watch.events.filter(isType("BOOKMARK")).length, 1, "one place is marked once");
  watch.close();
  other.close();

  await declare(api, zone("second"));
  await api.seal();
  const again = await watching("dnszones", { "last-event-id": bookmark?.id ?? "" });
  assert.ok(await again.next(isOf("second")), "what came behind the bookmark");
  await again.next(isType("SYNCED"));
  const before = again.events.filter(isOf("first"));
  assert.equal(before.filter(isType("ADDED")).length, 0, "and nothing that was told before it");
  again.close();
});

/** A reader that takes what it is given only when it is told to. */
async function openSlowly(
  path: string,
): Promise<{ socket: Socket; text: () => string; until: (word: string) => Promise<void> }> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let text = "";
  let wake = () => {};
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    text += chunk;
    wake();
  });
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${token}\r\n\r\n`);
  const until = async (word: string) => {
    while (!text.includes(word)) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { socket, text: () => text, until };
}

/** About 400 KB, so that few of them fill every buffer on the way. */
function large(revision: number) {
  const values = Array.from({ length: 100 }, (_, index) => `${revision} ${index} ${"x".repeat(4_000)}`);
  return record("large", "first", { type: "TXT", values });
}

test("a reader that falls behind is disconnected, disturbs nobody, and can go on where it was", {
  timeout: 60_000,
}, async () => {
  const fast = await watching("dnsrecords");
  await fast.next(isType("SYNCED"));
  const slow = await openSlowly(`${base}/dnsrecords?watch=true`);
  await slow.until("event: SYNCED");
  slow.socket.pause();
  await declare(api, large(1));
  await api.seal();
  let revision = 1;
  // How much the buffers on the way hold is the machine's affair.
  while (!served.get(slow.socket.localPort ?? 0)?.destroyed && revision < 80) {
    revision++;
    const answer = await api.send("PUT", `${base}/dnsrecords/large`, large(revision), whatever);
    assert.equal(answer.status, 200, JSON.stringify(answer.body).slice(0, 500));
    await api.seal();
    const current = revision;
    await fast.next((event) => isOf("large")(event) && event.data.revision === current);
  }
  assert.ok(served.get(slow.socket.localPort ?? 0)?.destroyed, `it was still connected after ${revision} changes`);
  assert.equal(fast.events.filter(isOf("large")).at(-1)?.data.revision, revision, "whoever reads is told everything");

  const closed = new Promise<void>((resolve) => slow.socket.once("close", () => resolve()));
  slow.socket.resume();
  await closed;
  const ids = [...slow.text().matchAll(/^id: (\S+)$/gm)].map(([, id]) => id ?? "");
  const position = Number(ids.at(-1)?.split(".")[1]);
  const end = Number(fast.events.at(-1)?.id?.split(".")[1]);
  assert.ok(position < end, "it was not given everything");
  fast.close();

  const again = await watching("dnsrecords", { "last-event-id": ids.at(-1) ?? "" });
  const now = await again.next(isOf("large"));
  assert.equal(now?.data.revision, revision, "as it is now, once");
  await again.next(isType("SYNCED"));
  again.close();
});
