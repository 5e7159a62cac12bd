/** What authors of kinds and providers import. Everything else may change without notice. */
export { type CompareRules, sameBy } from "./kernel/diff.ts";
export { afterEffect, type ErrorCode, RetryableError, TerminalError } from "./kernel/errors.ts";
export { defineKind, type Kind, type ScopeType } from "./kernel/kind.ts";
export {
  type BatchChange,
  defineLoop,
  type Desired,
  type DesiredContext,
  type InputResource,
  type Inventory,
  type ItemName,
  type LookContext,
  type Loop,
  type Marker,
  type Observation,
  type Seen,
  type Subject,
  type Wanted,
  type WriteContext,
} from "./kernel/loop.ts";
export {
  type AccountQuestions,
  type EffectContext,
  type Found,
  type IdempotencyKey,
  type OnceContext,
  type Pipeline,
  pipelinesOf,
  type RetryPolicy,
  type StepContext,
  type Story,
} from "./kernel/pipeline.ts";
export { plausible } from "./kernel/metrics.ts";
export { Secret } from "./kernel/secret.ts";
export type { Json, JsonObject } from "./ports/json.ts";
export type { AccountIdentity, Completeness, Lister, Page, Provider, ProviderAccount } from "./ports/provider.ts";
export type { AccountRecord, DeleteLimit, FieldDifference, PartialLimits, SourceRef } from "./ports/records.ts";
export type {
  CloudAddress,
  CloudFirewall,
  CloudFirewallRule,
  CloudNetwork,
  CloudServer,
  CloudServerType,
  CloudThing,
  CloudVolume,
  ComputeCapabilities,
  ComputeEngine,
  ComputeReader,
  ComputeWriter,
  EnsuredServer,
  Mark,
  OwnMark,
  ServerIntent,
  ServerLoad,
} from "./ports/compute.ts";
