import type { Http, HttpAnswer, HttpRequest, HttpSilence } from "../../src/ports/http.ts";
import type { Specification } from "./specification.ts";

/** HTTP with a provider's specification between: what either side says that it does not allow is kept. */
export class SpecifiedHttp implements Http {
  readonly faults: string[] = [];
  readonly operations = new Set<string>();
  readonly #http: Http;
  readonly #specification: Specification;
  readonly #basePath: string;

  constructor(http: Http, specification: Specification, basePath: string) {
    this.#http = http;
    this.#specification = specification;
    this.#basePath = basePath;
  }

  async request(request: HttpRequest): Promise<HttpAnswer | HttpSilence> {
    const { pathname, searchParams } = new URL(request.url);
    const path = pathname.slice(this.#basePath.length);
    const operation = this.#specification.operationOf(request.method, path);
    if (operation === undefined) this.faults.push(`${request.method} ${path} is no operation`);
    else {
      this.operations.add(operation);
      const body = request.body === undefined ? undefined : (JSON.parse(request.body) as unknown);
      this.faults.push(...this.#specification.requestFaults(operation, searchParams, body));
    }
    const answer = await this.#http.request(request);
    if (operation !== undefined && answer.answered) {
      const body = answer.text === "" ? undefined : (JSON.parse(answer.text) as unknown);
      this.faults.push(...this.#specification.answerFaults(operation, answer.status, body));
    }
    return answer;
  }
}
