import type { EngineStore } from "../../src/ports/engine-store.ts";
import type { Ids } from "../../src/ports/ids.ts";
import type { IntentStore } from "../../src/ports/intent-store.ts";
import type { Json } from "../../src/ports/json.ts";
import type { OperationIntents, OperationStore } from "../../src/ports/operation-store.ts";
import { load } from "./store/cycle-input.ts";
import { dump } from "./store/dump.ts";
import {
  blockCalls,
  createAccount,
  createOrganization,
  createScope,
  endPause,
  markRestored,
  pause,
  recordAccount,
  recordedThings,
  setPolicy,
  takeCalls,
} from "./store/governance.ts";
import { approve, reject } from "./store/held.ts";
import { declare, reconcileNow, requestDeletion } from "./store/intents.ts";
import {
  dueOperations,
  findAccount,
  loadOperation,
  recordMove,
  releaseWorkerShards,
  renewWorkerShards,
  startOperation,
  steerOperation,
  subjectsAround,
  takeWorkerShards,
  wakeAround,
  workerShardHolders,
} from "./store/operations.ts";
import { permit, recordOutcome, reserveDeletes } from "./store/permits.ts";
import { dock } from "./store/pool.ts";
import { accountHealth, recordIdle, settle } from "./store/settle.ts";
import { dueSubjects, listSubjects, releaseShards, renewShards, shardHolders, takeShards } from "./store/shards.ts";
import { placeHold, releaseHold, type StagedHolds } from "./store/staged-holds.ts";
import { copyTables, newTables, type State, type Tables } from "./store/state.ts";

export { StoreConflict } from "./store/state.ts";

/** The store's methods as plain functions over the state, for whoever schedules the answers himself. */
export const transactions = {
  takeShards,
  renewShards,
  releaseShards,
  shardHolders,
  listSubjects,
  dueSubjects,
  load,
  accountHealth,
  reserveDeletes,
  permit,
  recordOutcome,
  settle,
  takeCalls,
  blockCalls,
  recordIdle,
  recordAccount,
  recordedThings,
  dock,
  createOrganization,
  createScope,
  createAccount,
  declare,
  requestDeletion,
  reconcileNow,
  approve,
  reject,
  pause,
  endPause,
  setPolicy,
  markRestored,
  takeWorkerShards,
  renewWorkerShards,
  releaseWorkerShards,
  workerShardHolders,
  dueOperations,
  findAccount,
  subjectsAround,
  wakeAround,
  loadOperation,
  recordMove,
  startOperation,
  steerOperation,
  placeHold,
  releaseHold,
} as const;

/** The ports of the store, and what the simulation alone may do to it. */
export type StoreMethods = EngineStore & IntentStore & OperationStore & OperationIntents & StagedHolds;

/** A backup of the whole store. */
export type Snapshot = { readonly tables: Tables };

/**
 * The in-memory twin of the PostgreSQL store: a synchronous state machine behind its ports. Each method is one
 * transaction: it checks first and then writes, so that a thrown error leaves nothing half-written.
 */
export class MemoryStore implements StoreMethods {
  readonly state: State;

  constructor(options: { readonly nowMs: () => number; readonly ids: Ids; readonly installationId?: string }) {
    this.state = {
      tables: newTables(options.installationId ?? "installation-1"),
      nowMs: options.nowMs,
      ids: options.ids,
    };
  }

  /** The canonical form of everything stored. */
  dump(): Json {
    return dump(this.state);
  }

  snapshot(): Snapshot {
    return { tables: copyTables(this.state.tables) };
  }

  /** Puts a backup back, as an operator would: what happened since is forgotten. `markRestored` must follow. */
  restore(snapshot: Snapshot): void {
    this.state.tables = copyTables(snapshot.tables);
  }

  takeShards: StoreMethods["takeShards"] = async (request) => takeShards(this.state, request);
  renewShards: StoreMethods["renewShards"] = async (request) => renewShards(this.state, request);
  releaseShards: StoreMethods["releaseShards"] = async (request) => releaseShards(this.state, request);
  shardHolders: StoreMethods["shardHolders"] = async () => shardHolders(this.state);
  listSubjects: StoreMethods["listSubjects"] = async (request) => listSubjects(this.state, request);
  dueSubjects: StoreMethods["dueSubjects"] = async (request) => dueSubjects(this.state, request);
  load: StoreMethods["load"] = async (subjectId) => load(this.state, subjectId);
  accountHealth: StoreMethods["accountHealth"] = async (request) => accountHealth(this.state, request);
  reserveDeletes: StoreMethods["reserveDeletes"] = async (request) => reserveDeletes(this.state, request);
  permit: StoreMethods["permit"] = async (request) => permit(this.state, request);
  recordOutcome: StoreMethods["recordOutcome"] = async (request) => recordOutcome(this.state, request);
  settle: StoreMethods["settle"] = async (settlement) => settle(this.state, settlement);
  takeCalls: StoreMethods["takeCalls"] = async (request) => takeCalls(this.state, request);
  blockCalls: StoreMethods["blockCalls"] = async (request) => blockCalls(this.state, request);
  recordIdle: StoreMethods["recordIdle"] = async (request) => recordIdle(this.state, request);
  recordedThings: StoreMethods["recordedThings"] = async (request) => recordedThings(this.state, request);
  recordAccount: StoreMethods["recordAccount"] = async (request) => recordAccount(this.state, request);
  dock: StoreMethods["dock"] = async (request) => dock(this.state, request);
  createOrganization: StoreMethods["createOrganization"] = async (request) => createOrganization(this.state, request);
  createScope: StoreMethods["createScope"] = async (request) => createScope(this.state, request);
  createAccount: StoreMethods["createAccount"] = async (request) => createAccount(this.state, request);
  declare: StoreMethods["declare"] = async (request) => declare(this.state, request);
  requestDeletion: StoreMethods["requestDeletion"] = async (request) => requestDeletion(this.state, request);
  reconcileNow: StoreMethods["reconcileNow"] = async (request) => reconcileNow(this.state, request);
  approve: StoreMethods["approve"] = async (request) => approve(this.state, request);
  reject: StoreMethods["reject"] = async (request) => reject(this.state, request);
  pause: StoreMethods["pause"] = async (request) => pause(this.state, request);
  endPause: StoreMethods["endPause"] = async (request) => endPause(this.state, request);
  setPolicy: StoreMethods["setPolicy"] = async (request) => setPolicy(this.state, request);
  markRestored: StoreMethods["markRestored"] = async () => markRestored(this.state);
  takeWorkerShards: StoreMethods["takeWorkerShards"] = async (request) => takeWorkerShards(this.state, request);
  renewWorkerShards: StoreMethods["renewWorkerShards"] = async (request) => renewWorkerShards(this.state, request);
  releaseWorkerShards: StoreMethods["releaseWorkerShards"] = async (request) =>
    releaseWorkerShards(this.state, request);
  workerShardHolders: StoreMethods["workerShardHolders"] = async () => workerShardHolders(this.state);
  dueOperations: StoreMethods["dueOperations"] = async (request) => dueOperations(this.state, request);
  findAccount: StoreMethods["findAccount"] = async (request) => findAccount(this.state, request);
  subjectsAround: StoreMethods["subjectsAround"] = async (request) => subjectsAround(this.state, request);
  wakeAround: StoreMethods["wakeAround"] = async (request) => wakeAround(this.state, request);
  loadOperation: StoreMethods["loadOperation"] = async (request) => loadOperation(this.state, request);
  recordMove: StoreMethods["recordMove"] = async (request) => recordMove(this.state, request);
  startOperation: StoreMethods["startOperation"] = async (request) => startOperation(this.state, request);
  steerOperation: StoreMethods["steerOperation"] = async (request) => steerOperation(this.state, request);
  placeHold: StoreMethods["placeHold"] = async (request) => placeHold(this.state, request);
  releaseHold: StoreMethods["releaseHold"] = async (request) => releaseHold(this.state, request);
}
