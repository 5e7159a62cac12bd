import { Fragment, type ReactNode } from "react";
import { ApiProblem } from "../api/client.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { Ago } from "./time.tsx";

/** Nothing is here, and what to do about it. */
export function Empty({ icon = "info", title, children }: { icon?: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-10 text-center">
      <span className="grid size-9 place-items-center rounded-full bg-sunken text-soft">
        <Icon name={icon} size={18} />
      </span>
      <p className="font-medium">{title}</p>
      {children === undefined ? undefined : <div className="max-w-lg text-sm text-soft">{children}</div>}
    </div>
  );
}

export function Command({ children }: { children: string }) {
  return (
    <code className="inline-block max-w-full rounded bg-sunken px-1.5 py-0.5 text-xs text-ink">
      <CommandWords line={children} />
    </code>
  );
}

/** A line breaks between the words of a command and not behind a hyphen, where it would read as another flag. */
export function CommandWords({ line }: { line: string }) {
  return line.split(" ").map((word, index) => (
    <Fragment key={`${index} ${word}`}>
      {index === 0 ? "" : " "}
      <span className="inline-block max-w-full indent-0 break-words">{word}</span>
    </Fragment>
  ));
}

/** A refusal or a failure, in the words of whoever refused. */
export function ProblemNote({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = error instanceof ApiProblem ? error.problem : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div role="alert" className="rounded-md border border-bad bg-bad-wash px-3 py-2 text-sm">
      <p className="flex items-start gap-2 font-medium text-bad">
        <Icon name="cross" className="mt-0.5" />
        <span className="min-w-0 break-words">{problem?.title ?? "That did not work"}</span>
      </p>
      <p className="mt-1 break-words text-ink">{message}</p>
      {problem?.errors === undefined ? undefined : (
        <ul className="mt-1 list-disc pl-5 text-ink">
          {problem.errors.map(({ pointer, message: words }) => (
            <li key={`${pointer} ${words}`}>
              <code>{pointer}</code> {words}
            </li>
          ))}
        </ul>
      )}
      {problem?.verdict === undefined ? undefined : (
        <p className="mt-1 text-ink">
          Guard <b>{problem.verdict.guard}</b>: {problem.verdict.reason}
        </p>
      )}
      <p className="mt-1 text-xs text-soft">
        {problem === undefined ? undefined : <code>{problem.code}</code>}
        {problem?.requestId === undefined ? undefined : <> · request {problem.requestId}</>}
      </p>
      {retry === undefined ? undefined : (
        <Button className="mt-2" icon="refresh" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A place for what is being read; it says what for. */
export function Reading({ what, rows = 3 }: { what: string; rows?: number }) {
  return (
    <div role="status" className="space-y-2 p-3.5">
      <span className="sr-only">Reading {what}</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="h-4 animate-pulse rounded bg-sunken" />
      ))}
    </div>
  );
}

interface Asked<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
  /** When what is shown was read. */
  readonly dataUpdatedAt?: number;
}

/** Answers that are no alarm and that asking again does not change: what somebody may not read, and what is not there. */
const calm: Readonly<Record<number, IconName>> = { 403: "shield", 404: "search" };

/**
 * What a query answered, or why it did not yet. What was read before stays while a new answer is awaited, and says how old it is where
 * it could not be read again; what is not there any more, or may not be read any more, does not stay.
 */
export function Answer<Data>({
  of,
  what,
  children,
}: {
  of: Asked<Data>;
  what: string;
  children: (data: Data) => ReactNode;
}) {
  const icon = of.error instanceof ApiProblem ? calm[of.error.problem.status] : undefined;
  if (of.error instanceof ApiProblem && icon !== undefined)
    return (
      <Empty icon={icon} title={of.error.problem.title}>
        {of.error.message}
      </Empty>
    );
  if (of.data !== undefined)
    return (
      <>
        {of.error === null || of.error === undefined ? undefined : <NotReadAgain of={of} what={what} />}
        {children(of.data)}
      </>
    );
  if (of.error !== null && of.error !== undefined)
    return (
      <div className="p-3.5">
        <ProblemNote error={of.error} retry={() => void of.refetch()} />
      </div>
    );
  return <Reading what={what} />;
}

/** Nobody may take for now what was so a while ago. */
function NotReadAgain({ of, what }: { of: Asked<unknown>; what: string }) {
  const { error, dataUpdatedAt } = of;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 bg-warn-wash px-3.5 py-2 text-sm text-warn"
    >
      <span className="min-w-0 flex-1 basis-56 break-words">
        Reading {what} again failed; this was read{" "}
        {dataUpdatedAt === undefined ? "before" : <Ago at={new Date(dataUpdatedAt).toISOString()} />}.{" "}
        {error instanceof Error ? error.message : String(error)}
      </span>
      <Button icon="refresh" onClick={() => void of.refetch()}>
        Try again
      </Button>
    </div>
  );
}
