import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get, query } from "./client.ts";
import type {
  AccountDocument,
  ExplanationDocument,
  FiguresDocument,
  FreezePreviewDocument,
  HeldChangeDocument,
  LimitsDocument,
  LoopsDocument,
  MeDocument,
  OrganizationDocument,
  PauseDocument,
  PausePreviewDocument,
  PendingDocument,
  ProposalDocument,
  SummaryDocument,
} from "./types.ts";

interface Items<Item> {
  readonly items: readonly Item[];
}

/**
 * Keys of what was read: organization first, then the record it is about. The stream of changes makes old what begins with
 * the same words.
 */
export const keys = {
  organization: (organization: string) => ["organization", organization] as const,
  record: (organization: string, record: string) => ["organization", organization, record] as const,
};

/**
 * A look that changes nothing is not told of by the stream, and makes what is shown younger: whatever shows ages is read again this
 * often, while somebody has it before them.
 */
export const agesReadEveryMs = 10_000;

export const base = (organization: string) => `/v1/organizations/${encodeURIComponent(organization)}`;

export const meQuery = queryOptions({ queryKey: ["me"], queryFn: () => get<MeDocument>("/v1/me") });

export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: async () => (await get<Items<OrganizationDocument>>("/v1/organizations")).items,
});

export const loopsQuery = queryOptions({
  queryKey: ["loops"],
  queryFn: () => get<LoopsDocument>("/v1/loops"),
  refetchInterval: 10_000,
});

/** Only operators of the platform may read it; everybody else does without. */
export const summaryQuery = queryOptions({
  queryKey: ["summary"],
  queryFn: () => get<SummaryDocument>("/v1/summary"),
  retry: false,
});

/** Whether the caller may freeze the whole platform. */
export const freezeQuery = queryOptions({
  queryKey: ["freeze"],
  queryFn: async () => (await get<Items<PauseDocument>>("/v1/freeze")).items,
  retry: false,
});

/** Whether the caller may do something on the platform, or in an organization. The API decides again when it is done. */
export const mayQuery = (asked: {
  readonly permission: string;
  readonly action: string;
  readonly organization?: string;
}) =>
  queryOptions({
    queryKey: ["may", asked],
    queryFn: async () => (await get<ExplanationDocument>(`/v1/access/explain${query(asked)}`)).allowed,
    retry: false,
  });

export const figuresQuery = (organization: string) =>
  queryOptions({
    queryKey: keys.record(organization, "figures"),
    queryFn: async () => (await get<FiguresDocument>(`${base(organization)}/figures`)).items,
  });

export const heldQuery = (organization: string, state = "open") =>
  queryOptions({
    queryKey: [...keys.record(organization, "held-change"), state],
    queryFn: () =>
      get<Items<HeldChangeDocument> & { truncated: boolean }>(
        `${base(organization)}/held-changes${query({ state, limit: 200 })}`,
      ),
    placeholderData: keepPreviousData,
  });

export const proposalsQuery = (organization: string, state: ProposalDocument["state"] = "open") =>
  queryOptions({
    queryKey: [...keys.record(organization, "proposal"), state],
    queryFn: async () => (await get<Items<ProposalDocument>>(`${base(organization)}/proposals?state=${state}`)).items,
    retry: false,
  });

export const pausesQuery = (organization: string) =>
  queryOptions({
    queryKey: keys.record(organization, "pause"),
    queryFn: async () => (await get<Items<PauseDocument>>(`${base(organization)}/pauses`)).items,
    refetchInterval: 15_000,
  });

export const pendingQuery = (organization: string) =>
  queryOptions({
    queryKey: keys.record(organization, "pending"),
    queryFn: () => get<PendingDocument>(`${base(organization)}/pending`),
  });

/** What ending one pause would set in motion below it. */
export const pausePreviewQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...keys.record(organization, "pending"), id],
    queryFn: async () => (await get<PausePreviewDocument>(`${base(organization)}/pauses/${id}/preview`)).pending,
    retry: false,
  });

/** What ending the freeze would set in motion, in every organization. */
export const freezePreviewQuery = queryOptions({
  queryKey: ["freeze", "preview"],
  queryFn: async () => (await get<FreezePreviewDocument>("/v1/freeze/preview")).organizations,
  retry: false,
});

export const limitsQuery = (organization: string) =>
  queryOptions({
    queryKey: keys.record(organization, "policy"),
    queryFn: () => get<LimitsDocument>(`${base(organization)}/limits`),
  });

export const accountsQuery = (organization: string) =>
  queryOptions({
    queryKey: keys.record(organization, "account"),
    queryFn: async () => (await get<Items<AccountDocument>>(`${base(organization)}/accounts`)).items,
    retry: false,
  });
