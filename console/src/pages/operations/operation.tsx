import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, get, query } from "../../api/client.ts";
import { base, keys, loopsQuery } from "../../api/queries.ts";
import type { ResourcePage, StepEntry } from "../../api/parts.ts";
import type { OperationDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Icon } from "../../components/icons.tsx";
import { Mark, type Tone } from "../../components/mark.tsx";
import { ObjectLink, pathOf } from "../../components/object-link.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { Answer, Empty, ProblemNote } from "../../components/states.tsx";
import { Ago, fullTime, took, useNowMs } from "../../components/time.tsx";
import { operationRoute } from "./route.tsx";
import { standingWords } from "./standing-words.ts";
import { OperationState } from "./state-mark.tsx";
import { type Bar, type Stretch, waterfall } from "./waterfall.ts";

const isOver = (operation: OperationDocument | undefined) => operation?.endedAt !== undefined;

/** One operation: where it stands, where its time went, its journal, and what a person can do. */
export function OperationPage() {
  const { organization, id } = operationRoute.useParams();
  const link = `${base(organization)}/operations/${id}`;
  const key = [...keys.record(organization, "operation"), id];
  const operation = useQuery({
    queryKey: key,
    queryFn: () => get<OperationDocument>(link),
    refetchInterval: ({ state }) => (isOver(state.data) ? false : 1_500),
  });
  const steps = useQuery({
    queryKey: [...key, "steps"],
    queryFn: async () => (await get<{ items: readonly StepEntry[] }>(`${link}/steps`)).items,
    refetchInterval: isOver(operation.data) ? false : 1_500,
  });
  return (
    <>
      <Link
        to="/o/$organization/operations"
        params={{ organization }}
        className="mb-2 inline-flex items-center gap-1 text-sm text-soft hover:text-ink"
      >
        <Icon name="back" size={14} /> Operations
      </Link>
      <Answer of={operation} what="the operation">
        {(found) => (
          <>
            <PageHeader
              title={
                <>
                  {found.pipeline} of <ResourceOf organization={organization} operation={found} />
                </>
              }
              lead={
                <>
                  asked for by {found.startedBy} <Ago at={found.createdAt} />
                  {found.holdSince === undefined ? undefined : (
                    <>
                      {" "}
                      · holds its resource since <Ago at={found.holdSince} />
                    </>
                  )}
                </>
              }
            >
              <OperationState operation={found} />
              <Steer organization={organization} operation={found} journal={steps.data ?? []} />
            </PageHeader>
            <Standing operation={found} />
            <Answer of={steps} what="its journal">
              {(journal) => (
                <div className="space-y-4">
                  <Waterfall operation={found} journal={journal} />
                  <Journal journal={journal} />
                </div>
              )}
            </Answer>
          </>
        )}
      </Answer>
    </>
  );
}

/** Its resource, as a link for as long as it is there. */
function ResourceOf({ organization, operation }: { organization: string; operation: OperationDocument }) {
  const { kind, name, uid } = operation.resource;
  const loops = useQuery(loopsQuery).data;
  const found = useQuery({
    queryKey: [...keys.record(organization, "resources"), "named", kind, name],
    queryFn: () => get<ResourcePage>(`${base(organization)}/resources${query({ kind, namePrefix: name })}`),
  }).data?.items.find(({ metadata }) => metadata.uid === uid);
  const words = `${kind}/${name}`;
  if (found === undefined) return words;
  return (
    <ObjectLink organization={organization} path={pathOf(found, loops)}>
      {words}
    </ObjectLink>
  );
}

/** Where it stands, in words; what ended well says that in its state. */
function Standing({ operation }: { operation: OperationDocument }) {
  const { step, cancel } = operation;
  const words = standingWords(operation);
  if (words === undefined && cancel === undefined) return undefined;
  return (
    <p className="mb-4 rounded-lg border border-line bg-panel px-3.5 py-2.5 text-sm break-words">
      {words === undefined || step === undefined ? undefined : <b className="font-medium">{step}: </b>}
      {[words, cancel === undefined ? undefined : `${cancel.by} asked it to stop: ${cancel.reason}`]
        .filter((part) => part !== undefined)
        .join(" · ")}
    </p>
  );
}

const colours: Readonly<Record<Stretch, string>> = {
  queue: "bg-strong-line",
  work: "bg-accent",
  outside: "bg-warn",
  retry: "bg-bad",
};
const legend: readonly [Stretch, string][] = [
  ["queue", "waited for its turn"],
  ["work", "worked"],
  ["outside", "waited for the outside"],
  ["retry", "between attempts"],
];

function Waterfall({ operation, journal }: { operation: OperationDocument; journal: readonly StepEntry[] }) {
  const now = useNowMs();
  const nowMs = operation.endedAt === undefined ? now : Date.parse(operation.endedAt);
  const { fromMs, toMs, queue, rows } = waterfall(operation, journal, nowMs);
  const place = ({ fromMs: begin, toMs: end }: Bar) => ({
    // Even what is too short to be seen stays within the track.
    left: `min(100% - 3px, ${((begin - fromMs) / (toMs - fromMs)) * 100}%)`,
    width: `max(3px, ${((end - begin) / (toMs - fromMs)) * 100}%)`,
  });
  const track = (bars: readonly Bar[]) => (
    <span className="relative block h-4 flex-1 rounded bg-sunken">
      {bars.map((bar) => (
        <span
          key={`${bar.fromMs} ${bar.sort}`}
          title={`${bar.words}, ${took(bar.toMs - bar.fromMs)}`}
          style={place(bar)}
          className={`absolute inset-y-0.5 rounded-sm ${colours[bar.sort]}`}
        />
      ))}
    </span>
  );
  return (
    <Panel
      title="Where the time went"
      aside={
        <span className="flex flex-wrap gap-x-3">
          {legend.map(([sort, words]) => (
            <span key={sort} className="inline-flex items-center gap-1">
              <span className={`size-2.5 rounded-sm ${colours[sort]}`} /> {words}
            </span>
          ))}
        </span>
      }
    >
      <ul className="space-y-1.5">
        <li className="flex items-center gap-3 text-sm">
          <span className="w-32 shrink-0 truncate text-soft sm:w-48">queue</span>
          {track([queue])}
          <span className="w-14 text-right text-xs text-soft tabular-nums">{took(queue.toMs - queue.fromMs)}</span>
        </li>
        {rows.map((row) => (
          <li key={`${row.direction} ${row.step}`} className="flex items-center gap-3 text-sm" title={row.message}>
            <span className="flex w-32 shrink-0 items-center gap-1.5 sm:w-48">
              <Icon
                name={row.result === "failed" ? "cross" : row.result === "begun" ? "play" : "check"}
                size={13}
                className={row.result === "failed" ? "text-bad" : row.result === "begun" ? "text-accent" : "text-good"}
              />
              <span className="truncate">
                {row.direction === "back" ? "take back " : ""}
                {row.step}
              </span>
              {row.attempts > 1 ? <span className="text-xs text-warn tabular-nums">×{row.attempts}</span> : undefined}
            </span>
            {track(row.bars)}
            <span className="w-14 text-right text-xs text-soft tabular-nums">
              {took(row.bars.reduce((sum, bar) => sum + bar.toMs - bar.fromMs, 0))}
            </span>
          </li>
        ))}
      </ul>
      {rows.length === 0 ? <p className="mt-2 text-sm text-soft">No step has been written down yet.</p> : undefined}
    </Panel>
  );
}

const tones: Readonly<Partial<Record<StepEntry["result"], Tone>>> = {
  done: "good",
  failed: "bad",
  skipped: "warn",
  begun: "accent",
};

function Journal({ journal }: { journal: readonly StepEntry[] }) {
  if (journal.length === 0)
    return (
      <Panel title="Journal">
        <Empty icon="book" title="Nothing is written down yet" />
      </Panel>
    );
  return (
    <Panel title="Journal" flush aside={journal.length === 1 ? "1 line" : `${journal.length} lines`}>
      <ol className="divide-y divide-line">
        {journal.map((entry) => (
          <li key={entry.place} className="px-3.5 py-2 text-sm">
            <p className="flex flex-wrap items-center gap-x-3">
              <span className="w-7 text-xs text-soft tabular-nums">{entry.place}</span>
              <b className="font-medium">
                {entry.direction === "back" ? "take back " : ""}
                {entry.step}
              </b>
              <Mark
                tone={tones[entry.result] ?? "plain"}
                icon={entry.result === "failed" ? "cross" : entry.result === "done" ? "check" : "info"}
              >
                {entry.result}
              </Mark>
              {entry.attempt === undefined ? undefined : (
                <span className="text-xs text-soft">attempt {entry.attempt}</span>
              )}
              {entry.tookMs === undefined ? undefined : (
                <span className="text-xs text-soft tabular-nums">{took(entry.tookMs)}</span>
              )}
              <span className="flex-1" />
              <time dateTime={entry.at} title={fullTime(entry.at)} className="text-xs text-soft">
                <Ago at={entry.at} />
              </time>
            </p>
            {entry.message === undefined ? undefined : (
              <p className={`pl-10 break-words ${entry.result === "failed" ? "text-bad" : "text-soft"}`}>
                {entry.code === undefined ? "" : `${entry.code}: `}
                {entry.message}
              </p>
            )}
            {entry.output === undefined || entry.output === null ? undefined : (
              <details className="mt-1 ml-10">
                <summary className="cursor-pointer text-xs text-soft">what it gave</summary>
                <pre tabIndex={0} className="mt-1 overflow-x-auto rounded bg-sunken p-2 text-xs">
                  {JSON.stringify(entry.output, undefined, 1)}
                </pre>
              </details>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

type Verb = OperationDocument["can"][number];

const verbs: Readonly<
  Record<Verb, { title: string; icon: "cross" | "play" | "refresh" | "arrow" | "hand"; words: string }>
> = {
  cancel: { title: "Cancel", icon: "cross", words: "It stops at its next step and takes back what it made." },
  resume: { title: "Go on", icon: "play", words: "It tries the step it waits at again." },
  retry: { title: "Retry from a step", icon: "refresh", words: "It goes back to that step, and on from there." },
  skip: {
    title: "Skip the step",
    icon: "arrow",
    words: "The step it waits at stays undone, where that is declared safe.",
  },
  release: { title: "Release", icon: "hand", words: "It ends as it is, and its resource is given back to its loop." },
};

type DangerousVerb = "cancel" | "release";
const isDangerous = (verb: Verb): verb is DangerousVerb => verb === "cancel" || verb === "release";

/** What ending it now does to what it did. */
function DoneSoFar({
  verb,
  operation: { resource },
  journal,
}: {
  verb: DangerousVerb;
  operation: OperationDocument;
  journal: readonly StepEntry[];
}) {
  const done = [
    ...new Set(
      journal.flatMap(({ step, direction, result }) => (direction === "forward" && result === "done" ? [step] : [])),
    ),
  ];
  const fate =
    verb === "cancel"
      ? "What was made outside is taken back, the last first."
      : "What was made outside stays as it is; nothing is taken back.";
  return (
    <div className="mb-3 rounded-md bg-bad-wash px-3 py-2 text-sm">
      {done.length === 0 ? (
        <p>
          No step of it is done yet: nothing was made for {resource.kind}/{resource.name}.
        </p>
      ) : (
        <>
          <p>
            {done.length} step{done.length === 1 ? " is" : "s are"} done for {resource.kind}/{resource.name}. {fate}
          </p>
          <ol aria-label="Steps that are done" className="mt-1 list-decimal pl-5">
            {done.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

function Steer({
  organization,
  operation,
  journal,
}: {
  organization: string;
  operation: OperationDocument;
  journal: readonly StepEntry[];
}) {
  const [verb, setVerb] = useState<Verb>();
  return (
    <>
      {operation.can.map((entry) => (
        <Button
          key={entry}
          tone={isDangerous(entry) ? "danger" : "plain"}
          icon={verbs[entry].icon}
          onClick={() => setVerb(entry)}
        >
          {verbs[entry].title}…
        </Button>
      ))}
      {verb === undefined ? undefined : (
        <SteerDialog
          organization={organization}
          operation={operation}
          journal={journal}
          verb={verb}
          close={() => setVerb(undefined)}
        />
      )}
    </>
  );
}

function SteerDialog({
  organization,
  operation,
  journal,
  verb,
  close,
}: {
  organization: string;
  operation: OperationDocument;
  journal: readonly StepEntry[];
  verb: Verb;
  close: () => void;
}) {
  const steps = [
    ...new Set([...journal.map(({ step }) => step), ...(operation.step === undefined ? [] : [operation.step])]),
  ];
  const [reason, setReason] = useState("");
  const [step, setStep] = useState(operation.step ?? steps.at(-1) ?? "");
  const needsStep = verb === "retry" || verb === "skip";
  const steer = useAction(
    organization,
    () =>
      api("POST", `${base(organization)}/operations/${operation.id}:${verb}`, {
        body: { reason: reason.trim(), ...(needsStep ? { step } : {}) },
      }),
    close,
  );
  return (
    <Dialog open onOpenChange={(open) => !open && close()} title={verbs[verb].title} description={verbs[verb].words}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          steer.mutate();
        }}
      >
        {isDangerous(verb) ? <DoneSoFar verb={verb} operation={operation} journal={journal} /> : undefined}
        {needsStep ? (
          <SelectField label="Step" value={step} onChange={({ target }) => setStep(target.value)}>
            {steps.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </SelectField>
        ) : undefined}
        <TextField
          label="Why"
          autoFocus
          required
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          hint="Kept with the operation and in the audit trail."
        />
        {steer.error === null ? undefined : <ProblemNote error={steer.error} />}
        <DialogActions close={close}>
          <Button
            type="submit"
            tone={isDangerous(verb) ? "danger" : "primary"}
            busy={steer.isPending}
            disabled={reason.trim() === ""}
          >
            {verbs[verb].title}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
