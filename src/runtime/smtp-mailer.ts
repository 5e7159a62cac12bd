import { createTransport } from "nodemailer";
import type { Mailer } from "../ports/mailer.ts";

const timeoutMs = 10_000;

/** Through an SMTP server, such as `smtp://user:password@mail.example:587`. `smtps:` speaks TLS from the first byte. */
export function createSmtpMailer(url: string, from: string): Mailer {
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true });
  return {
    send: async (to, subject, text) => {
      // Addresses are given as a list with one entry, so that a comma in one cannot make two of it.
      await transport.sendMail({
        from,
        to: [{ name: "", address: to }],
        subject,
        text,
      });
    },
  };
}
