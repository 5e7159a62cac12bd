import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { DriftDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import type { IconName } from "../../components/icons.tsx";
import { Chip } from "../../components/mark.tsx";
import { type Known, NamedObjects, useNamed } from "../../components/named-objects.tsx";
import { pathOfLink } from "../../components/object-link.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { ConfirmDialog } from "../../components/remove-dialog.tsx";
import { Answer, Command, Empty, ProblemNote } from "../../components/states.tsx";
import { Ago, useNowMs } from "../../components/time.tsx";
import { DriftActions } from "../../drift/drift-actions.tsx";
import { removeRule } from "../../drift/ignore-dialog.tsx";
import { scopePath, scopeWords } from "../../drift/scope-words.ts";
import { driftRoute } from "./route.tsx";

type Cause = DriftDocument["causes"][number];
type Rule = NonNullable<DriftDocument["ignored"]>[number];

/** What differs from its declaration, by cause and field; and what is left alone on purpose. */
export function DriftPage() {
  const { organization } = driftRoute.useParams();
  const drift = useQuery({
    queryKey: keys.record(organization, "drift"),
    queryFn: () => get<DriftDocument>(`${base(organization)}/drift`),
  });
  return (
    <>
      <PageHeader
        title="Drift"
        lead="Many resources with one cause are one entry. What is ours is put right by its loop; what a guard stops waits for you."
      />
      <Answer of={drift} what="what differs">
        {({ causes, ignored = [], truncated }) => (
          <div className="space-y-4">
            {causes.length === 0 ? (
              <Panel>
                <Empty icon="equal" title="Nothing differs">
                  Everything that was looked at is as declared.
                </Empty>
              </Panel>
            ) : undefined}
            <Causes organization={organization} causes={causes} />
            {truncated ? <p className="text-sm text-soft">There is more: this is the oldest part of it.</p> : undefined}
            <Panel title="Left alone on purpose" flush>
              {ignored.length === 0 ? (
                <Empty icon="eye" title="No rule ignores anything">
                  A field that somebody else may change can be left alone, with a reason and an end:{" "}
                  <Command>setpoint ignore dnszone/shop /ttlSeconds --reason … --until 7d</Command>
                </Empty>
              ) : (
                <ul className="divide-y divide-line">
                  {ignored.map((rule) => (
                    <RuleRow
                      key={`${rule.from} ${rule.kind} ${rule.name ?? ""} ${rule.item ?? ""} ${rule.field}`}
                      organization={organization}
                      rule={rule}
                    />
                  ))}
                </ul>
              )}
            </Panel>
          </div>
        )}
      </Answer>
    </>
  );
}

const titles: Readonly<Record<string, string>> = {
  create: "items are missing outside",
  delete: "items are no longer declared",
  takeover: "items belong to somebody else until they are taken over",
  replace: "items must be replaced",
};
const verbs: Readonly<Record<string, string>> = { takeover: "take over" };

/** Guards that let it go on when something ends; nobody has to decide it. */
const passing: ReadonlyMap<string, readonly [words: string, icon: IconName]> = new Map([
  ["hold", ["waits for the end of an operation", "bolt"]],
  ["pause", ["waits for the end of a pause", "pause"]],
]);

function GuardChip({ guard }: { guard: string }) {
  const [words, icon] = passing.get(guard) ?? [`stopped by guard ${guard}`, "hand"];
  return (
    <Chip tone={passing.has(guard) ? "warn" : "hold"} icon={icon}>
      {words}
    </Chip>
  );
}

function Causes({ organization, causes }: { organization: string; causes: readonly Cause[] }) {
  const known = useNamed(
    organization,
    causes.flatMap(({ resources }) => resources.map(({ link }) => pathOfLink(link))),
  );
  return causes.map((cause) => (
    <CausePanel
      key={`${cause.kind} ${cause.action} ${cause.field}`}
      organization={organization}
      cause={cause}
      known={known}
    />
  ));
}

function CausePanel({ organization, cause, known }: { organization: string; cause: Cause; known: Known }) {
  const { kind, action, field, items, resources, resourceCount, guards, since } = cause;
  const targets = resources.map(({ name, link }) => ({
    kind,
    name,
    path: pathOfLink(link),
    fields: field === "" ? [] : [field],
  }));
  return (
    <Panel
      title={`${kind}: ${field === "" ? (titles[action] ?? action) : `${field} differs`}`}
      aside={
        <span>
          since <Ago at={since} />
        </span>
      }
    >
      <p className="flex flex-wrap items-center gap-2 text-sm">
        {items} item{items === 1 ? "" : "s"} to {verbs[action] ?? action} in {resourceCount} resource
        {resourceCount === 1 ? "" : "s"}
        {guards.length === 0 ? (
          <Chip tone="accent" icon="refresh">
            being put right
          </Chip>
        ) : (
          guards.map((guard) => <GuardChip key={guard} guard={guard} />)
        )}
        {guards.some((guard) => !passing.has(guard)) ? (
          <Link to="/o/$organization/held" params={{ organization }} className="text-accent underline">
            what waits for a person
          </Link>
        ) : undefined}
      </p>
      <div className="my-2">
        <NamedObjects
          organization={organization}
          objects={resources.map(({ name, link, items: count }) => ({
            name,
            path: pathOfLink(link),
            note: count > 1 ? <span className="text-soft"> ×{count}</span> : undefined,
          }))}
          known={known}
          tab="differences"
        />
        {resourceCount > resources.length ? (
          <p className="text-sm text-soft">and {resourceCount - resources.length} more</p>
        ) : undefined}
      </div>
      {action === "takeover" ? undefined : (
        <DriftActions
          organization={organization}
          targets={targets}
          fields={field !== ""}
          revert={action === "delete" || action === "create" ? action : undefined}
        />
      )}
      {resourceCount > resources.length ? (
        <p className="mt-2 text-xs text-soft">These are about the {resources.length} that are named.</p>
      ) : undefined}
    </Panel>
  );
}

function RuleRow({ organization, rule }: { organization: string; rule: Rule }) {
  const nowMs = useNowMs();
  const { from, ...own } = rule;
  const scope = scopePath(from);
  const [asking, setAsking] = useState(false);
  const remove = () => removeRule(organization, scope ?? "", own);
  const clear = useAction(organization, remove);
  const { kind, name, item, field, reason, until } = rule;
  const ended = until !== undefined && Date.parse(until) <= nowMs;
  return (
    <li className="px-3.5 py-2 text-sm">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 break-words">
          <code>{field}</code> of {item === undefined ? "" : `${item} of `}
          {kind}
          {name === undefined ? "" : `/${name}`}: {reason}{" "}
          <span className="text-soft">(a rule of {scopeWords(from)})</span>
        </span>
        <Chip tone={ended ? "plain" : "accent"} icon="clock">
          {until === undefined
            ? "until it is taken back"
            : `${ended ? "ended" : "until"} ${new Date(until).toLocaleDateString(undefined, { dateStyle: "medium", timeZone: "UTC" })}`}
        </Chip>
        <span className="flex-1" />
        {scope === undefined ? undefined : (
          <Button
            icon="back"
            busy={clear.isPending}
            // What has ended is acted upon already: clearing it away changes nothing outside.
            onClick={() => (ended ? clear.mutate() : setAsking(true))}
          >
            {ended ? "Clear" : "Act upon it again…"}
          </Button>
        )}
      </p>
      {clear.error === null ? undefined : <ProblemNote error={clear.error} />}
      {asking ? (
        <ConfirmDialog
          organization={organization}
          act={remove}
          title={`Act upon ${field} of ${kind} again`}
          means="From the next cycle on a loop in mode enforce puts back what differs there, within its limits; what is too large waits for a person."
          facts={[
            ["Covers", name === undefined ? `every ${kind} in ${scopeWords(from)}` : `${kind}/${name}`],
            ["Ignored because", reason],
          ]}
          verb="Act upon it"
          icon="back"
          tone="primary"
          close={() => setAsking(false)}
        />
      ) : undefined}
    </li>
  );
}
