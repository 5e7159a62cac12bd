export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** All of it: the name, the connection, the answer. */
  readonly timeoutMs: number;
}

export type WebhookAnswer =
  | {
      readonly sent: true;
      readonly status: number;
      /** The beginning of what was answered, for the delivery log. */
      readonly text: string;
      readonly retryAfterMs: number | undefined;
    }
  | { readonly sent: false; readonly reason: "refused" | "timeout" | "connection"; readonly message: string };

/**
 * Sends one message to an address that a tenant chose. It goes to public addresses only, to the very address that was
 * checked, and follows nobody elsewhere.
 */
export interface WebhookSender {
  /** What can be said against a URL without asking anybody; undefined: nothing. */
  refusalOf(url: string): string | undefined;
  /** Never rejects. */
  send(request: WebhookRequest): Promise<WebhookAnswer>;
}
