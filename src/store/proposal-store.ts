import type { Proposal, ProposalStore } from "../ports/proposal-store.ts";
import type { Principal } from "../ports/records.ts";
import type { Database, Transaction } from "./database.ts";
import { append } from "./log-entries.ts";
import {
  decideProposal,
  getProposal,
  insertProposal,
  listProposals,
  type ProposalRow,
  recomputeProposal,
} from "./sql/proposals.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

/** Proposals on PostgreSQL. Each method is one transaction with its log entry. */
export class PostgresProposalStore implements ProposalStore {
  readonly #database: Database;
  readonly #logged: (() => void) | undefined;

  constructor(options: { readonly database: Database; readonly logged?: (() => void) | undefined }) {
    this.#database = options.database;
    this.#logged = options.logged;
  }

  propose: ProposalStore["propose"] = ({ organizationId, id, author, reason, changes, computed }) =>
    this.#write(organizationId, async (tx) => {
      const { revisions, plan, digest } = computed;
      const values = [reason, JSON.stringify(changes), revisions, JSON.stringify(plan), digest] as const;
      const [row] = await tx.run(insertProposal, organizationId, id, author.name, author.type, ...values);
      await append(tx, { organizationId, type: "proposal.made", uid: id, author, data: { reason, digest } });
      if (row === undefined) throw new Error("an insert that returns its row returned none");
      return proposalOf(row);
    });

  list: ProposalStore["list"] = async ({ organizationId, states, limit }) => {
    const tenant = requireOrganizationId(organizationId);
    return (await this.#database.run(tenant, call(listProposals, organizationId, states, limit))).map(proposalOf);
  };

  get: ProposalStore["get"] = async ({ organizationId, id }) => {
    const tenant = requireOrganizationId(organizationId);
    const [row] = await this.#database.run(tenant, call(getProposal, organizationId, id));
    return row === undefined ? undefined : proposalOf(row);
  };

  decide: ProposalStore["decide"] = ({ organizationId, id, digest, from, to, author, comment }) =>
    this.#write(organizationId, async (tx) => {
      const values = [organizationId, id, digest ?? null, from, to, author.name, comment ?? null] as const;
      const [row] = await tx.run(decideProposal, ...values);
      if (row === undefined) return undefined;
      const data = { digest: row.digest, ...(comment === undefined ? {} : { comment }) };
      await append(tx, { organizationId, type: `proposal.${to}`, uid: id, author, data });
      return proposalOf(row);
    });

  askAgain: ProposalStore["askAgain"] = ({ organizationId, id, author, computed }) =>
    this.#write(organizationId, async (tx) => {
      const { revisions, plan, digest } = computed;
      const [row] = await tx.run(recomputeProposal, organizationId, id, revisions, JSON.stringify(plan), digest);
      if (row === undefined) return undefined;
      await append(tx, { organizationId, type: "proposal.moved", uid: id, author, data: { digest } });
      return proposalOf(row);
    });

  async #write<Answer>(organizationId: string, work: (tx: Transaction) => Promise<Answer>): Promise<Answer> {
    const answer = await this.#database.transaction(requireOrganizationId(organizationId), work);
    this.#logged?.();
    return answer;
  }
}

/** Marks an approved proposal as applied, in the transaction that makes its changes. Undefined: it is not approved. */
export async function markApplied(
  tx: Transaction,
  organizationId: string,
  { id, digest, author }: { readonly id: string; readonly digest: string; readonly author: Principal },
): Promise<ProposalRow | undefined> {
  const [row] = await tx.run(decideProposal, organizationId, id, digest, ["approved"], "applied", author.name, null);
  if (row !== undefined)
    await append(tx, { organizationId, type: "proposal.applied", uid: id, author, data: { digest } });
  return row;
}

function proposalOf(row: ProposalRow): Proposal {
  return {
    id: row.id,
    state: row.state,
    author: { name: row.author_name, type: row.author_type },
    reason: row.reason,
    changes: row.changes,
    revisions: row.revisions,
    plan: row.plan,
    digest: row.digest,
    proposedAtMs: row.proposed_at_ms,
    decidedBy: row.decided_by ?? undefined,
    decidedAtMs: row.decided_at_ms ?? undefined,
    comment: row.comment ?? undefined,
    appliedAtMs: row.applied_at_ms ?? undefined,
  };
}
