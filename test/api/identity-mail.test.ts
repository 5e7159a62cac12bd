import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { createSmtpMailer } from "../../src/runtime/smtp-mailer.ts";
import { startTestApi } from "../support/api.ts";
import { ask, goodPassword } from "../support/person.ts";

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** A mailer whose mails can be waited for, one after the other. */
function mailbox() {
  const mails: Mail[] = [];
  let arrived = Promise.withResolvers<void>();
  const mailer = {
    send: async (to: string, subject: string, text: string) => {
      mails.push({ to, subject, text });
      arrived.resolve();
    },
  };
  const next = async (): Promise<Mail> => {
    while (mails.length === 0) {
      await arrived.promise;
      arrived = Promise.withResolvers<void>();
    }
    return mails.shift() as Mail;
  };
  return { mailer, next, mails };
}

const tokenIn = ({ text }: Mail) => /#(spt_\S+)/.exec(text)?.[1] ?? "";

test("where mail is sent, an address counts once its owner followed the link", async () => {
  const { mailer, next } = mailbox();
  await using api = await startTestApi({ mailer }, { publicUrl: "https://setpoint.example" });
  const person = { email: "ada@example.test", name: "Ada", password: goodPassword };
  const first = await ask(api, "POST", "/v1/sign-up", person);
  const mail = await next();
  assert.equal(mail.to, "ada@example.test");
  assert.match(mail.text, /https:\/\/setpoint\.example\/sign-in#spt_link_/);
  const signIn = () => ask(api, "POST", "/v1/session", { email: person.email, password: goodPassword });
  assert.equal((await signIn()).status, 401, "not yet");
  assert.equal((await ask(api, "POST", "/v1/session/link", { token: tokenIn(mail) })).status, 201);
  assert.equal((await signIn()).status, 201);
  const again = await ask(api, "POST", "/v1/sign-up", { ...person, password: "somebody else's guess" });
  assert.deepEqual([again.status, again.body], [first.status, first.body]);
  assert.match((await next()).subject, /already/);
  assert.equal((await signIn()).status, 201, "the password is still the first one");
});

test("a forgotten password is reset by mail; where the link leads is not up to whoever asked", async () => {
  const { mailer, next, mails } = mailbox();
  await using api = await startTestApi({ mailer }, { publicUrl: "https://setpoint.example" });
  const person = { email: "grace@example.test", name: "Grace", password: goodPassword };
  await ask(api, "POST", "/v1/sign-up", person);
  await ask(api, "POST", "/v1/session/link", { token: tokenIn(await next()) });
  const unknown = await ask(api, "POST", "/v1/password/forgot", { email: "nobody@example.test" });
  const forgot = await ask(api, "POST", "/v1/password/forgot", { email: person.email }, { host: "evil.example" });
  assert.deepEqual([unknown.status, unknown.body], [forgot.status, forgot.body]);
  const mail = await next();
  assert.match(mail.text, /https:\/\/setpoint\.example\/sign-in#spt_reset_/);
  assert.doesNotMatch(mail.text, /evil/);
  assert.equal(mails.length, 0, "nobody is told nothing");
  const reset = { token: tokenIn(mail), password: "eleven silver teaspoons" };
  assert.equal((await ask(api, "POST", "/v1/password/reset", reset)).status, 204);
  const entered = await ask(api, "POST", "/v1/session", { email: person.email, password: reset.password });
  assert.equal(entered.status, 201);
  for (let mailed = 1; mailed < 3; mailed++)
    assert.equal((await ask(api, "POST", "/v1/password/forgot", { email: person.email })).status, 202);
  const flood = await ask(api, "POST", "/v1/password/forgot", { email: person.email });
  assert.equal(flood.body["code"], "RATE_LIMITED");
});

test("mail is handed to a real SMTP server, to one address whatever is in it", async () => {
  const received: string[] = [];
  const server = createServer((socket) => {
    let inData = false;
    socket.setEncoding("utf8").write("220 test\r\n");
    socket.on("data", (chunk: string) => {
      for (const line of chunk.split("\r\n").slice(0, -1)) {
        received.push(line);
        if (inData && line === ".") {
          inData = false;
          socket.write("250 taken\r\n");
        } else if (!inData) {
          if (/^DATA/i.test(line)) inData = true;
          socket.write(inData ? "354 go on\r\n" : /^QUIT/i.test(line) ? "221 bye\r\n" : "250 fine\r\n");
        }
      }
    });
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  try {
    const mailer = createSmtpMailer(`smtp://127.0.0.1:${port}?ignoreTLS=true`, "setpoint@example.test");
    await mailer.send("ada@example.test", "Hello", "One line.\n");
    assert.ok(received.includes("RCPT TO:<ada@example.test>"), received.join("\n"));
    assert.ok(received.includes("Subject: Hello"));
    assert.ok(received.includes("One line."));
    await assert.rejects(mailer.send("a@example.test, b@example.test\r\nRCPT TO:<c@example.test>", "x", "y"));
    assert.deepEqual(received.filter((line) => line.startsWith("RCPT TO")).length, 1);
  } finally {
    server.close();
  }
});
