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
      await transport.sendMail({
        from,
        to: [{ name: "", address: to }],
        subject,
        text,
      });
    },
  };
}
