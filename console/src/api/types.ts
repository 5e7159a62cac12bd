/** What the API answers, inferred from the very schemas it validates with: there is nothing to generate, and nothing to drift. */
export type { ProblemDocument } from "../../../src/control-api/schemas/common.ts";
export type { ComparisonDocument } from "../../../src/control-api/schemas/comparison.ts";
export type { DryRunDocument } from "../../../src/control-api/schemas/dry-run.ts";
export type {
  DriftDocument,
  FreezePreviewDocument,
  HeldChangeDocument,
  LimitsDocument,
  PauseDocument,
  PausePreviewDocument,
  PendingDocument,
  PlanDocument,
  PolicyDocument,
} from "../../../src/control-api/schemas/governance.ts";
export type {
  ExplanationDocument,
  InviteDocument,
  MemberDocument,
  PermissionDocument,
  RoleDocument,
} from "../../../src/control-api/schemas/access.ts";
export type { TokenDocument } from "../../../src/control-api/schemas/credentials.ts";
export type {
  MeDocument,
  PasskeyDocument,
  RecoveryCodesDocument,
  SessionDocument,
  TotpDocument,
} from "../../../src/control-api/schemas/identity.ts";
export type {
  DeliveryDocument,
  EmailsDocument,
  MailedDocument,
  NotificationDocument,
  WebhookDocument,
} from "../../../src/control-api/schemas/webhooks.ts";
export type { SecretDocument } from "../../../src/control-api/schemas/secrets.ts";
export type { AccountDocument, OrganizationDocument } from "../../../src/control-api/schemas/organization.ts";
export type { PoolAccountDocument } from "../../../src/control-api/schemas/pool.ts";
export type { MapDocument } from "../../../src/control-api/schemas/map.ts";
export type { ChangesDocument, FiguresDocument } from "../../../src/control-api/schemas/overview.ts";
export type { LoopsDocument, SummaryDocument } from "../../../src/control-api/schemas/platform.ts";
export type { ProposalDocument } from "../../../src/control-api/schemas/proposal.ts";
export type { OperationDocument } from "../../../src/control-api/schemas/operation.ts";
export type { AuditEntryDocument } from "../../../src/control-api/schemas/audit.ts";
export type {
  ConditionView,
  CycleTraceDocument,
  DeclarationDocument,
  HistoryDocument,
  Manifest,
  ObservationDocument,
  Reason,
  ResourceDocument,
  WhyDocument,
} from "../../../src/control-api/schemas/resource.ts";
