import type { Json } from "../../ports/json.ts";
import type { ProposalState } from "../../ports/proposal-store.ts";
import type { PrincipalType } from "../../ports/records.ts";
import { statement } from "../statement.ts";

export interface ProposalRow {
  readonly id: string;
  readonly state: ProposalState;
  readonly author_name: string;
  readonly author_type: PrincipalType;
  readonly reason: string;
  readonly changes: Json;
  readonly revisions: readonly number[];
  readonly plan: Json;
  readonly digest: string;
  readonly proposed_at_ms: number;
  readonly decided_by: string | null;
  readonly decided_at_ms: number | null;
  readonly comment: string | null;
  readonly applied_at_ms: number | null;
}
const columns = `p.id, p.state, p.author_name, p.author_type, p.reason, p.changes, to_json(p.revisions) as revisions, p.plan,
  p.digest, p.proposed_at_ms, p.decided_by, p.decided_at_ms, p.comment, p.applied_at_ms`;

export const insertProposal = statement<ProposalRow>(
  "insert proposal",
  "tenants",
  `insert into setpoint.proposal as p (organization_id, id, state, author_name, author_type, reason, changes, revisions,
     plan, digest, proposed_at_ms)
   values ($1, $2, 'open', $3, $4, $5, $6::json, $7::bigint[], $8::json, $9, setpoint.now_ms())
   returning ${columns}`,
);
export const listProposals = statement<ProposalRow>(
  "list proposals",
  "tenants",
  `select ${columns} from setpoint.proposal as p
   where p.organization_id = $1 and p.state = any ($2::text[]) order by p.proposed_at_ms desc, p.id desc limit $3`,
);
export const getProposal = statement<ProposalRow>(
  "get proposal",
  "tenants",
  `select ${columns} from setpoint.proposal as p where p.organization_id = $1 and p.id = $2`,
);
export const decideProposal = statement<ProposalRow>(
  "decide proposal",
  "tenants",
  `update setpoint.proposal as p
   set state = $5::text,
     decided_by = case when $5::text = 'applied' then p.decided_by else $6 end,
     decided_at_ms = case when $5::text = 'applied' then p.decided_at_ms else setpoint.now_ms() end,
     comment = coalesce($7, p.comment),
     applied_at_ms = case when $5::text = 'applied' then setpoint.now_ms() end
   where p.organization_id = $1 and p.id = $2 and ($3::text is null or p.digest = $3) and p.state = any ($4::text[])
   returning ${columns}`,
);
export const recomputeProposal = statement<ProposalRow>(
  "recompute proposal",
  "tenants",
  `update setpoint.proposal as p
   set state = 'open', revisions = $3::bigint[], plan = $4::json, digest = $5, decided_by = null, decided_at_ms = null
   where p.organization_id = $1 and p.id = $2 and p.state in ('open', 'approved')
   returning ${columns}`,
);
