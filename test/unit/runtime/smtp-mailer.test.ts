import assert from "node:assert/strict";
import { test } from "node:test";
import { createSmtpMailer } from "../../../src/runtime/smtp-mailer.ts";
import { startTalkativeMailServer } from "../../canary/counterparts.ts";

test("a mail server that repeats the password it was given is quoted without it", async () => {
  await using server = await startTalkativeMailServer();
  const mailer = createSmtpMailer(`smtp://robin:hunter%2F22@127.0.0.1:${server.port}`, "setpoint@localhost");
  const failed = await mailer.send("a@b.test", "subject", "text").then(
    () => "",
    (thrown: unknown) => String(thrown),
  );
  assert.match(failed, /refused: .*\[secret\]/);
  assert.doesNotMatch(failed, /hunter/);
  assert.ok(!failed.includes(Buffer.from("\0robin\0hunter/22").toString("base64")));
});
