/** Sends e-mail. Where none is set up there is no mailer, and what would have been sent is shown once instead. */
export interface Mailer {
  /** Resolves when the mail server took it; rejects when it did not. */
  send(to: string, subject: string, text: string): Promise<void>;
}
