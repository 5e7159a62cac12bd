import { createTransport } from "nodemailer";
import type { Mailer } from "../ports/mailer.ts";

const timeoutMs = 10_000;

/** Through an SMTP server, such as `smtp://user:password@mail.example:587`. `smtps:` speaks TLS from the first byte. */
export function createSmtpMailer(url: string, from: string): Mailer {
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true });
  return {
    send: async (to, subject, text) => {
      // One address, whatever was put into it: neither a second one nor a line of the protocol.
      if (/[\s,;<>"]/.test(to)) throw new Error("This is not one e-mail address: nothing was sent");
      const mail = { from, to: [{ name: "", address: to }], subject, text };
      await transport.sendMail(mail).catch((thrown: unknown) => {
        // The server was told the password, and its own words are part of the error: they are not passed on with it.
        throw new Error(hidden(thrown instanceof Error ? thrown.message : String(thrown), url));
      });
    },
  };
}

function hidden(message: string, url: string): string {
  const { username, password } = new URL(url);
  const [name, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
  if (secret === "") return message;
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const forms = [base64(`\0${name}\0${secret}`), base64(secret), secret, password];
  return forms.reduce((left, form) => left.replaceAll(form, "[secret]"), message);
}
