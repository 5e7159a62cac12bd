import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { api } from "../api/client.ts";
import { base, freezePreviewQuery, pausePreviewQuery, pausesQuery, pendingQuery } from "../api/queries.ts";
import type { PauseDocument } from "../api/types.ts";
import { useAction } from "../components/action.ts";
import { Button } from "../components/button.tsx";
import { Counts } from "../components/counts.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Answer, ProblemNote } from "../components/states.tsx";
import { Until } from "../components/time.tsx";
import { scopeWords } from "../drift/scope-words.ts";

/** Ends pauses, after showing what would run then. */
export function ResumeDialog({ organization, close }: { organization: string; close: () => void }) {
  const pauses = useQuery(pausesQuery(organization));
  const pending = useQuery(pendingQuery(organization));
  const end = useAction(organization, (pause: PauseDocument) =>
    pause.scope === "platform"
      ? api("DELETE", "/v1/freeze")
      : api("DELETE", `${base(organization)}/pauses/${pause.id}`),
  );
  const choices = useRef<HTMLDivElement>(null);
  // The button that was pressed goes away with its pause: the focus goes to the next choice instead of nowhere.
  useEffect(() => {
    if (end.isSuccess && choices.current?.contains(document.activeElement) === false)
      choices.current.querySelector("button")?.focus();
  }, [end.isSuccess, pauses.data]);
  return (
    <Dialog
      wide
      open
      onOpenChange={(open) => !open && close()}
      title="Resume"
      description="This is what would run, from what was last seen."
    >
      <Answer of={pending} what="what would run">
        {({ items, totals, truncated }) => (
          <div className="mb-4 rounded-md border border-line">
            <p className="border-b border-line px-3 py-2 text-sm">
              {totals.wouldRun === 0 ? (
                "Nothing: everything is as declared, or something else stands in the way."
              ) : (
                <>
                  <b>{totals.wouldRun}</b> of {totals.resources} that differ would be written to:{" "}
                  <Counts counts={totals.wouldDo} />
                </>
              )}
            </p>
            <ul className="max-h-56 divide-y divide-line overflow-y-auto">
              {/* What would run comes first: it is what the person is about to set in motion. */}
              {items
                .toSorted((left, right) => Number(left.blockedBy.length > 0) - Number(right.blockedBy.length > 0))
                .map((item) => (
                  <li key={item.link} className="flex flex-wrap items-center gap-x-3 px-3 py-1.5 text-sm">
                    <span className="min-w-0 flex-1 break-words">
                      <span className="text-soft">{item.kind}/</span>
                      {item.name}
                    </span>
                    <Counts counts={item.actions} />
                    {item.blockedBy.length === 0 ? undefined : (
                      <span className="text-xs text-soft">still held by {item.blockedBy.join(", ")}</span>
                    )}
                  </li>
                ))}
              {truncated ? <li className="px-3 py-1.5 text-xs text-soft">and more</li> : undefined}
            </ul>
          </div>
        )}
      </Answer>
      <div ref={choices}>
        <Answer of={pauses} what="pauses">
          {(items) => (
            <ul className="space-y-2">
              {items.length === 0 ? <li className="text-sm text-soft">Nothing is paused any more.</li> : undefined}
              {items.map((pause) => (
                <li
                  key={pause.id}
                  className="flex flex-wrap items-center gap-3 rounded-md border border-line px-3 py-2 text-sm"
                >
                  <span className="min-w-0 flex-1 basis-56">
                    <b>
                      {pause.scope === "platform"
                        ? "Freeze of the platform"
                        : `Pause of ${pause.on ?? scopeWords(pause.scope)}`}
                    </b>{" "}
                    ({pause.level}) by {pause.author}: {pause.reason}
                    <span className="block text-xs text-soft">
                      ends by itself <Until at={pause.expiresAt} />
                    </span>
                    {pause.scope === "platform" ? <Everywhere /> : <Below organization={organization} pause={pause} />}
                  </span>
                  <Button tone="primary" icon="play" busy={end.isPending} onClick={() => end.mutate(pause)}>
                    Resume
                  </Button>
                </li>
              ))}
            </ul>
          )}
        </Answer>
        {end.error === null ? undefined : (
          <div className="mt-3">
            <ProblemNote error={end.error} />
          </div>
        )}
        <div className="mt-4 flex justify-end">
          <Button onClick={close}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Of all that is left to do, what one pause alone keeps back. */
function Below({ organization, pause }: { organization: string; pause: PauseDocument }) {
  const { data } = useQuery(pausePreviewQuery(organization, pause.id));
  if (data === undefined) return undefined;
  const { totals } = data;
  return (
    <span className="block text-xs">
      {totals.wouldRun === 0 ? (
        "Ending it sets nothing in motion."
      ) : (
        <>
          Ending it lets {totals.wouldRun} of {totals.resources} go on: <Counts counts={totals.wouldDo} />
        </>
      )}
    </span>
  );
}

/** A freeze holds every organization: whoever ends it should know of more than their own. */
function Everywhere() {
  const { data } = useQuery(freezePreviewQuery);
  if (data === undefined) return undefined;
  const waiting = data.filter(({ leftToDo, due }) => leftToDo + due > 0);
  return (
    <span className="block text-xs">
      {waiting.length === 0
        ? "Nothing waits for its end, in no organization."
        : `Waiting for its end: ${waiting.map(({ name, leftToDo, due }) => `${name} (${leftToDo} differ, ${due} due)`).join(", ")}.`}
    </span>
  );
}
