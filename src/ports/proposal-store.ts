import type { Json } from "./json.ts";
import type { Principal } from "./records.ts";

export type ProposalState = "open" | "approved" | "rejected" | "applied" | "withdrawn";

/** A set of changes to what is declared, with what they would lead to, that waits for a person. */
export interface Proposal {
  readonly id: string;
  readonly state: ProposalState;
  readonly author: Principal;
  readonly reason: string;
  readonly changes: Json;
  /** Per change the revision it was computed from; 0 where nothing stood there. */
  readonly revisions: readonly number[];
  readonly plan: Json;
  /** Covers the changes, the revisions and the plan's changes: what an approval binds to. */
  readonly digest: string;
  readonly proposedAtMs: number;
  readonly decidedBy: string | undefined;
  readonly decidedAtMs: number | undefined;
  readonly comment: string | undefined;
  readonly appliedAtMs: number | undefined;
}

export type Computed = Pick<Proposal, "revisions" | "plan" | "digest">;

export interface ProposalStore {
  propose(request: {
    readonly organizationId: string;
    readonly id: string;
    readonly author: Principal;
    readonly reason: string;
    readonly changes: Json;
    readonly computed: Computed;
  }): Promise<Proposal>;
  list(request: {
    readonly organizationId: string;
    readonly states: readonly ProposalState[];
    readonly limit: number;
  }): Promise<readonly Proposal[]>;
  get(request: { readonly organizationId: string; readonly id: string }): Promise<Proposal | undefined>;
  /**
   * Moves it from one state to another, at this very digest where one is given; undefined when it is not in that state with that
   * digest. Whoever takes back what they proposed takes it back whatever it would lead to by now.
   */
  decide(request: {
    readonly organizationId: string;
    readonly id: string;
    readonly digest: string | undefined;
    readonly from: readonly ProposalState[];
    readonly to: "approved" | "rejected" | "applied" | "withdrawn";
    readonly author: Principal;
    readonly comment: string | undefined;
  }): Promise<Proposal | undefined>;
  /** What it was computed from has moved: it asks again, with what it would lead to now. */
  askAgain(request: {
    readonly organizationId: string;
    readonly id: string;
    readonly author: Principal;
    readonly computed: Computed;
  }): Promise<Proposal | undefined>;
}
