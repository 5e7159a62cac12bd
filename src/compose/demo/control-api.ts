import type { Http } from "../../ports/http.ts";

const timeoutMs = 15_000;

/** The Control API as the owner of the machine reaches it. Whoever lives in the demo has no other way in than everybody else. */
export interface ControlApi {
  send(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<ControlAnswer>;
}

export interface ControlAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export function controlApi(http: Http, url: string, token: string): ControlApi {
  return {
    send: async (method, path, body) => {
      const answer = await http.request({
        method,
        url: `${url}${path}`,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(method === "DELETE" ? { "if-match": "*" } : {}),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        timeoutMs,
      });
      if (!answer.answered) return { status: 0, body: { detail: answer.message } };
      return {
        status: answer.status,
        body: answer.text === "" ? {} : (JSON.parse(answer.text) as Record<string, unknown>),
      };
    },
  };
}
