import { useId, useState } from "react";
import { query } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import { Button } from "../../components/button.tsx";
import { inputClass } from "../../components/field.tsx";
import { Chip } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { Command, ProblemNote } from "../../components/states.tsx";
import { Ago, fullTime } from "../../components/time.tsx";
import type { ChainResult, CheckedEntry } from "./chain-check.ts";
import { endText, noteEnd, notedEnd, readEnd } from "./noted-end.ts";
import { useChainCheck } from "./use-chain-check.ts";

/** Whether the record is as it was sealed: this browser reads all of it and computes every hash itself. */
export function ChainPanel({ organization, head }: { organization: string; head: number | undefined }) {
  const [known, setKnown] = useState(() => notedEnd(organization));
  const [pasted, setPasted] = useState<string>();
  const [comparedWith, setComparedWith] = useState<{ readonly position: number; readonly at?: string }>();
  const { state, start, stop } = useChainCheck(organization, (result) => {
    if (!result.holds || result.last === undefined) return;
    const { position, hash } = result.last;
    const end = { position, hash, at: new Date().toISOString() };
    noteEnd(organization, end);
    setKnown(end);
  });
  const text = pasted ?? (known === undefined ? "" : endText(known));
  const noted = readEnd(text);
  const odd = text.trim() !== "" && noted === undefined;
  const check = () => {
    const remembered = pasted === undefined ? known?.at : undefined;
    setComparedWith(
      noted === undefined
        ? undefined
        : { position: noted.position, ...(remembered === undefined ? {} : { at: remembered }) },
    );
    setPasted(undefined);
    start(noted);
  };
  return (
    <div className="mb-4">
      <Panel
        title="Is it as it was sealed?"
        aside={
          state.is === "done" ? (
            state.result.holds ? (
              <Chip tone="good" icon="check">
                whole
              </Chip>
            ) : (
              <Chip tone="bad" icon="cross">
                not whole
              </Chip>
            )
          ) : undefined
        }
      >
        <details className="max-w-prose text-sm text-soft">
          <summary className="w-fit cursor-pointer hover:text-ink">How your browser checks it</summary>
          <p className="mt-1">
            Each entry carries a hash over itself and the one before. Your browser reads the whole record and computes
            every hash itself, so that it need not believe the server. That is an export, and noted as one.
          </p>
        </details>
        <EndField
          value={text}
          set={setPasted}
          odd={odd}
          hint={
            pasted === undefined && known !== undefined ? (
              <>
                This browser saw the record end there <Ago at={known.at} />.
              </>
            ) : (
              "One that you noted earlier or elsewhere, as POSITION:HASH. Without it, a newest part that was cut off with care does not show."
            )
          }
        />
        <div className="flex flex-wrap items-center gap-3">
          {state.is === "running" ? (
            <>
              <Button icon="cross" onClick={stop}>
                Stop
              </Button>
              <progress
                className="h-2 w-40"
                max={Math.max(1, head ?? 1)}
                value={state.progress.position}
                aria-label="How far the check is"
              />
              <span className="text-sm text-soft tabular-nums">
                {state.progress.entries.toLocaleString()} entries hold so far
              </span>
            </>
          ) : (
            <Button tone="primary" icon="shield" disabled={odd} onClick={check}>
              {state.is === "idle" ? "Check the chain" : "Check again"}
            </Button>
          )}
        </div>
        <div aria-live="polite">
          {state.is === "failed" ? (
            <div className="mt-3">
              <ProblemNote error={state.error} />
            </div>
          ) : undefined}
          {state.is === "done" ? (
            <div className="mt-3 text-sm">
              {state.result.holds ? (
                <Whole result={state.result} comparedWith={comparedWith} />
              ) : (
                <NotWhole organization={organization} result={state.result} />
              )}
            </div>
          ) : undefined}
        </div>
      </Panel>
    </div>
  );
}

function EndField({
  value,
  set,
  odd,
  hint,
}: {
  value: string;
  set: (text: string) => void;
  odd: boolean;
  hint: React.ReactNode;
}) {
  const id = useId();
  return (
    <div className="my-3 max-w-prose">
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        An end that it must still contain
      </label>
      <input
        id={id}
        value={value}
        spellCheck={false}
        autoComplete="off"
        aria-invalid={odd}
        aria-describedby={`${id}-hint`}
        placeholder="POSITION:HASH"
        onChange={({ target }) => set(target.value)}
        className={`${inputClass} font-mono !text-xs`}
      />
      <p id={`${id}-hint`} className={`mt-1 text-xs ${odd ? "text-bad" : "text-soft"}`}>
        {odd ? "This is not POSITION:HASH: a number, a colon and 64 digits of a hash." : hint}
      </p>
    </div>
  );
}

function Whole({
  result,
  comparedWith,
}: {
  result: Extract<ChainResult, { readonly holds: true }>;
  comparedWith: { readonly position: number; readonly at?: string } | undefined;
}) {
  const { entries, after, first, last, compared } = result;
  if (first === undefined || last === undefined) return <p>There is no entry yet.</p>;
  return (
    <div className="space-y-1">
      <p>
        <b>
          Verified {entries.toLocaleString()} {entries === 1 ? "entry" : "entries"}
        </b>{" "}
        from <Point of={first} /> to <Point of={last} />: none was changed, removed, put in or moved.
      </p>
      {after === undefined ? undefined : (
        <p className="text-soft">
          It begins behind entry {after.position}: what was older was removed when it had been kept for long enough.
        </p>
      )}
      {comparedWith === undefined ? undefined : (
        <p className="text-soft">
          {compared
            ? `Entry ${comparedWith.position}, where it ended ${comparedWith.at === undefined ? "when you noted it" : `on ${fullTime(comparedWith.at)}`}, is in it unchanged.`
            : `Entry ${comparedWith.position}, whose hash you noted, is older than what is kept: it could not be compared.`}
        </p>
      )}
      <p className="text-soft">Its end, to note somewhere else:</p>
      <code className="block text-xs break-all">{endText(last)}</code>
    </div>
  );
}

function NotWhole({
  organization,
  result,
}: {
  organization: string;
  result: Extract<ChainResult, { readonly holds: false }>;
}) {
  const { reason, entries, upTo, entry } = result;
  return (
    <div role="alert" className="space-y-2 rounded-md border border-bad bg-bad-wash px-3 py-2">
      <p className="font-medium text-bad">The record is not whole: {reason}.</p>
      <p>
        {entries === 0 || upTo === undefined ? (
          "Nothing of it could be verified."
        ) : (
          <>
            Up to <Point of={upTo} /> it is as it was sealed ({entries.toLocaleString()}{" "}
            {entries === 1 ? "entry" : "entries"}).
          </>
        )}
      </p>
      {entry === undefined ? undefined : (
        <p className="break-words">
          The first that does not fit says now: <b>{entry.actor}</b> <code>{entry.type}</code>, <Point of={entry} />.
        </p>
      )}
      <p>
        Setpoint changes no entry that is sealed: somebody wrote to the database, or a backup was restored. What to do:
      </p>
      <ol className="list-decimal space-y-1 pl-5">
        <li>
          Keep what is there now:{" "}
          <a
            className="text-accent underline"
            href={`${base(organization)}/audit/export${query({ format: "ndjson" })}`}
            download="audit.ndjson"
          >
            export it
          </a>
          , and do not rely on what stands behind this point.
        </li>
        <li>
          Compare it with an export or a backup from before: <Command>setpoint audit verify FILE --online</Command>
        </li>
        <li>Find out who could write to the database since then, and change those passwords.</li>
      </ol>
    </div>
  );
}

function Point({ of: { position, atMs } }: { of: CheckedEntry }) {
  return (
    <>
      entry {position} <span className="text-soft">({fullTime(new Date(atMs).toISOString())})</span>
    </>
  );
}
