import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, ApiProblem, get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { HeldChangeDocument } from "../../api/types.ts";
import { Counts } from "../../components/counts.tsx";
import { Differences } from "../../components/differences.tsx";
import { Icon } from "../../components/icons.tsx";
import { Chip } from "../../components/mark.tsx";
import { NamedObjects, useNamed } from "../../components/named-objects.tsx";
import { ObjectLink, pathOfLink } from "../../components/object-link.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { plainWords } from "../../components/plain-words.ts";
import { Answer } from "../../components/states.tsx";
import { Ago, Until } from "../../components/time.tsx";
import { VerdictRow } from "../../components/verdicts.tsx";
import { ChangedSince } from "./changed-since.tsx";
import { DecisionForm } from "./decision-form.tsx";
import { titleOf } from "./held-row.tsx";
import { heldChangeRoute } from "./route.tsx";
import { Withdraw } from "./withdraw.tsx";

/** One held change: what it would do, why it waits, and the decision. */
export function HeldChangePage() {
  const { organization, id } = heldChangeRoute.useParams();
  const change = useQuery({
    queryKey: [...keys.record(organization, "held-change"), id],
    queryFn: () => get<HeldChangeDocument>(`${base(organization)}/held-changes/${id}`),
  });
  return (
    <>
      <Link
        to="/o/$organization/held"
        params={{ organization }}
        className="mb-2 inline-flex items-center gap-1 text-sm text-soft hover:text-ink"
      >
        <Icon name="back" size={14} /> Held changes
      </Link>
      <Answer of={change} what="the held change">
        {(found) => (
          <>
            <PageHeader
              title={titleOf(found)}
              lead={
                <>
                  opened <Ago at={found.openedAt} />
                  {found.openedBy === undefined ? "" : ` by ${found.openedBy}`}
                </>
              }
            >
              <StateChip change={found} />
            </PageHeader>
            <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(20rem,2fr)]">
              <div className="min-w-0 space-y-4">
                <Items organization={organization} change={found} />
                <Touched organization={organization} change={found} />
              </div>
              <div className="min-w-0 space-y-4">
                <Panel title="Why it waits">
                  <ul>
                    <VerdictRow verdict={found.verdict} />
                  </ul>
                  {found.reason === undefined ? undefined : (
                    <p className="text-sm">Asked for because: {found.reason}</p>
                  )}
                </Panel>
                <ChangedSince key={found.id} organization={organization} change={found} />
                <Decision key={found.digest} organization={organization} change={found} />
              </div>
            </div>
          </>
        )}
      </Answer>
    </>
  );
}

function StateChip({ change }: { change: HeldChangeDocument }) {
  if (change.state === "approved")
    return (
      <Chip tone="good" icon="check" breaks>
        approved by {change.decidedBy}
      </Chip>
    );
  if (change.state === "rejected")
    return (
      <Chip tone="bad" icon="cross" breaks>
        rejected by {change.decidedBy}
      </Chip>
    );
  if (change.state === "withdrawn")
    return (
      <Chip tone="plain" icon="back" breaks>
        withdrawn{change.decidedBy === undefined ? "" : ` by ${change.decidedBy}`}
      </Chip>
    );
  return change.overdue ? (
    <Chip tone="bad" icon="clock">
      overdue
    </Chip>
  ) : (
    <Chip tone="hold" icon="hand">
      waiting
    </Chip>
  );
}

const touchedAtMost = 20;
const order = ["delete", "replace", "takeover", "update", "create"];

function Items({ organization, change }: { organization: string; change: HeldChangeDocument }) {
  const items = change.items.toSorted((left, right) => order.indexOf(left.action) - order.indexOf(right.action));
  const { blastRadius } = change;
  return (
    <Panel
      flush
      title="What would happen"
      aside={
        <>
          <Counts counts={blastRadius.actions} />
          <span>
            in {blastRadius.resources} resource{blastRadius.resources === 1 ? "" : "s"}
            {blastRadius.accounts > 0
              ? `, ${blastRadius.accounts} account${blastRadius.accounts === 1 ? "" : "s"}`
              : ""}
          </span>
        </>
      }
    >
      <ul className="divide-y divide-line">
        {items.map((item) => (
          <li key={`${item.kind} ${item.name} ${item.key} ${item.action}`} className="px-3.5 py-2">
            <p className="flex flex-wrap items-baseline gap-x-2.5 text-sm">
              <b className={item.action === "delete" || item.action === "replace" ? "text-bad" : ""}>
                {item.action === "takeover" ? "take over" : item.action}
              </b>
              <code className="break-all">{item.key}</code>
              {item.link === undefined ? (
                <span className="text-soft">
                  {item.kind}/{item.name}
                </span>
              ) : (
                <ObjectLink organization={organization} path={pathOfLink(item.link)}>
                  {item.kind}/{item.name}
                </ObjectLink>
              )}
              {item.externalId === undefined || item.externalId === item.key ? undefined : (
                <code className="text-xs break-all text-soft">{item.externalId}</code>
              )}
            </p>
            {item.reason === change.verdict.reason ? undefined : (
              <p className="text-xs text-soft">{plainWords(item.reason)}</p>
            )}
            <Differences differences={item.differences} />
          </li>
        ))}
      </ul>
      {change.truncated ? (
        <p className="border-t border-line px-3.5 py-2 text-sm text-warn">Not all of it is shown here.</p>
      ) : undefined}
    </Panel>
  );
}

/** How the resources are now that it would change: a delete reads otherwise where nothing was looked at for an hour. */
function Touched({ organization, change }: { organization: string; change: HeldChangeDocument }) {
  const named = change.items.flatMap(({ kind, name, link }) =>
    link === undefined ? [] : [{ name: `${kind}/${name}`, path: pathOfLink(link) }],
  );
  const objects = [...new Map(named.map((one) => [one.path, one])).values()].slice(0, touchedAtMost);
  const known = useNamed(
    organization,
    objects.map(({ path }) => path),
  );
  if (objects.length === 0) return undefined;
  const { resources } = change.blastRadius;
  return (
    <Panel title="How they are now" aside={`${resources} resource${resources === 1 ? "" : "s"}`}>
      <NamedObjects organization={organization} objects={objects} known={known} />
      {resources > objects.length ? (
        <p className="text-sm text-soft">and {resources - objects.length} more</p>
      ) : undefined}
    </Panel>
  );
}

/** Binds to the digest that was read, and asks for the number of deletes: nobody approves what they have not counted. */
function Decision({ organization, change }: { organization: string; change: HeldChangeDocument }) {
  const path = `${base(organization)}/held-changes/${change.id}`;
  const { actions } = change.blastRadius;
  const deletes = (actions["delete"] ?? 0) + (actions["replace"] ?? 0);
  if (change.state !== "open")
    return (
      <Panel title="Decision">
        <p className="text-sm">
          {change.state} {change.decidedBy === undefined ? "" : `by ${change.decidedBy} `}
          {change.decidedAt === undefined ? undefined : <Ago at={change.decidedAt} />}
        </p>
        {change.comment === undefined ? undefined : <p className="mt-1 text-sm text-soft">{change.comment}</p>}
      </Panel>
    );
  const { you, notBy, fourEyes } = change.approval;
  return (
    <Panel
      title="Decision"
      aside={
        <>
          <span>
            to be decided <Until at={change.deadline} word="within" />
          </span>
        </>
      }
    >
      {fourEyes ? (
        <p className="mb-3 text-sm text-soft">
          Four eyes: not by {notBy.map(({ who, why }) => `${who} (${why})`).join(", ")}.
        </p>
      ) : undefined}
      {you.may ? undefined : (
        <p className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-sm text-warn">
          You cannot decide this: {you.because}.
        </p>
      )}
      <DecisionForm
        organization={organization}
        deletes={deletes}
        may={you.may}
        approving={deletes > 0 ? `Approve ${deletes} delete${deletes === 1 ? "" : "s"}` : "Approve"}
        commentHint="Needed to reject; kept with the decision."
        approve={(comment) =>
          api("POST", `${path}:approve`, { body: { digest: change.digest, ...(comment === "" ? {} : { comment }) } })
        }
        reject={(comment) => api("POST", `${path}:reject`, { body: { comment } })}
        explain={(error) =>
          error instanceof ApiProblem && error.code === "DIGEST_MOVED" ? (
            <p className="mt-2 text-sm">
              What waits changed since you read it. It is shown anew beside this: look again, then decide.
            </p>
          ) : undefined
        }
      >
        Binds to digest <code className="break-all">{change.digest.slice(0, 24)}</code>. If what waits changes, this
        approval does not count.
      </DecisionForm>
      <Withdraw
        organization={organization}
        path={path}
        by={change.openedBy}
        facts={[["Asked for because", change.reason ?? "no reason was given"]]}
      />
    </Panel>
  );
}
