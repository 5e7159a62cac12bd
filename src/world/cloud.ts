import type { AccountBook } from "./account-book.ts";
import type { WorldAnswer, WorldRequest } from "./exchange.ts";
import type { FaultsInForce, FaultTray } from "./fault-tray.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { WorldTime } from "./table.ts";

/** What every cloud of a world shares. */
export interface WorldCore {
  readonly time: WorldTime;
  readonly random: SeededRandom;
  readonly tray: FaultTray;
  readonly settings: WorldSettings;
}

/** What can be set while a world runs. */
export interface WorldSettings {
  /** How long actions take, as a share of the usual time. */
  pace: number;
  /** How far lists lag behind what was done. */
  listLagSeconds: number;
  /** A page of a list holds no more than this, whatever is asked for; undefined: as the provider has it. */
  pageMax?: number | undefined;
}

export interface CloudRequest {
  readonly request: WorldRequest;
  /** The path behind the base path. */
  readonly path: string;
  readonly faults: FaultsInForce;
  /** Set for somebody at the provider's own console: no token, no rate limit, no waiting. */
  readonly consoleOf: string | undefined;
}

/** One provider's API over its accounts. */
export interface Cloud {
  readonly name: string;
  readonly basePath: string;
  /** What an account is called there. */
  readonly accountWord: string;
  /** By the names that its API has for them. */
  readonly locations: readonly string[];
  readonly book: AccountBook<unknown>;
  /** Sets limits of an account, and answers with all of them. */
  configure(account: string, settings: unknown): unknown;
  /** Lets everything happen whose time has come. */
  settle(): void;
  answer(request: CloudRequest): WorldAnswer;
  /** A refusal in the provider's own shape. */
  refusal(status: number, code: string | undefined, message: string | undefined): WorldAnswer;
  rateLimited(account: string | undefined, retryAfterSeconds: number | undefined): WorldAnswer;
  /** Servers that were there before anybody looked. */
  fill(account: string, wanted: Fill): number;
  save(): unknown;
  load(saved: unknown): void;
}

export interface Fill {
  readonly servers: number;
  readonly prefix: string;
  readonly labels: Readonly<Record<string, string>>;
}
export { worldToken } from "./account-book.ts";
