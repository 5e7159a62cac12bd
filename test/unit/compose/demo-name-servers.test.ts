import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answerTo } from "../../../src/compose/demo/name-servers.ts";
import { messageBytes, readMessage } from "../../../src/providers/rfc2136/wire/message.ts";
import { answerCodes, operations } from "../../../src/providers/rfc2136/wire/numbers.ts";
import { setOf } from "../../../src/world/powerdns/simulated-powerdns.ts";

const zone = {
  name: "shop.example.",
  kind: "Native",
  serial: 7,
  rrsets: [
    setOf("shop.example.", "SOA", 3_600, ["ns1.shop.example. hostmaster.shop.example. 7 10800 3600 604800 3600"]),
    setOf("www.shop.example.", "A", 300, ["192.0.2.1", "192.0.2.2"]),
    setOf("shop.example.", "TXT", 300, ['"v=spf1 -all"']),
  ],
};

function asked(name: string, type: string) {
  const question = messageBytes({ id: 4_711, operation: operations.query, question: { name, type }, recursive: true });
  const answer = answerTo(question, [zone]);
  return answer === undefined ? undefined : readMessage(answer);
}

describe("a name server of the demo", () => {
  test("answers with what its zones hold, as their own", () => {
    const found = asked("www.shop.example.", "A");
    assert.deepEqual(
      found?.answers.map(({ value }) => value),
      ["192.0.2.1", "192.0.2.2"],
    );
    assert.deepEqual([found?.id, found?.isAnswer, found?.authoritative], [4_711, true, true]);
    assert.match(asked("shop.example.", "SOA")?.answers[0]?.value ?? "", / 7 10800 /);
    assert.deepEqual(
      asked("shop.example.", "TXT")?.answers.map(({ value }) => value),
      ['"v=spf1 -all"'],
    );
  });

  test("says that a name has nothing of a type, and that there is no such name", () => {
    assert.deepEqual([asked("www.shop.example.", "AAAA")?.code, asked("www.shop.example.", "AAAA")?.answers], [0, []]);
    assert.equal(asked("nobody.shop.example.", "A")?.code, answerCodes.noSuchName);
  });

  test("says nothing to what is no question", () => {
    assert.equal(answerTo(Buffer.from("GET / HTTP/1.1"), [zone]), undefined);
    assert.equal(answerTo(Buffer.alloc(0), [zone]), undefined);
    const update = messageBytes({ id: 1, operation: operations.update, question: { name: "a.", type: "SOA" } });
    assert.equal(answerTo(update, [zone]), undefined);
  });
});
