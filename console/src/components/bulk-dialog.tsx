import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ApiProblem } from "../api/client.ts";
import { base, loopsQuery } from "../api/queries.ts";
import type { Mode } from "../api/parts.ts";
import type { DryRunDocument, LoopsDocument, ResourceDocument } from "../api/types.ts";
import { useAction } from "./action.ts";
import { AxesLine } from "./axes.tsx";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { SelectField, TextField } from "./field.tsx";
import { Icon } from "./icons.tsx";
import { pathOf } from "./object-link.tsx";
import { ProblemNote } from "./states.tsx";
import { manifestOf } from "../pages/object/manifest.ts";

export type Act = "look" | "mode" | "pause" | "delete";

const titles: Readonly<Record<Act, string>> = {
  look: "Look again",
  mode: "Set the mode",
  pause: "Suspend",
  delete: "Delete",
};

/** Each is a question to the server; of more than this it says "at least". */
const countedAtMost = 50;

/** Why an action does not fit a row; undefined: it does. */
function misfit(act: Act, resource: ResourceDocument, loops: LoopsDocument | undefined): string | undefined {
  const kind = loops?.kinds.find((entry) => entry.kind === resource.kind);
  if (act !== "look" && resource.metadata.deletion !== undefined) return "it is being deleted already";
  if (act !== "delete" && kind?.everySeconds === undefined) return "it has no loop of its own";
  return undefined;
}

interface BulkProps {
  readonly organization: string;
  readonly act: Act;
  readonly picked: readonly ResourceDocument[];
  /** Said beside the numbers, where not everything could be chosen. */
  readonly note?: string | undefined;
  readonly close: () => void;
  readonly done?: (() => void) | undefined;
}

/** Does one thing to many, and says first which of them it fits. */
export function BulkDialog({ organization, act, picked, note, close, done }: BulkProps) {
  const loops = useQuery(loopsQuery).data;
  const [mode, setMode] = useState<Mode>("observe");
  const [count, setCount] = useState("");
  const [reason, setReason] = useState("");
  const sorted = picked.map((resource) => ({ resource, why: misfit(act, resource, loops) }));
  const fits = sorted.filter(({ why }) => why === undefined).map(({ resource }) => resource);
  const others = sorted.filter(({ why }) => why !== undefined);
  const deletes = useQuery({
    queryKey: ["bulk-delete", organization, fits.map(({ metadata }) => metadata.uid)],
    queryFn: () => countDeletes(organization, fits.slice(0, countedAtMost), loops),
    enabled: act === "delete" && fits.length > 0,
    staleTime: 0,
    retry: false,
  });
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  const run = useAction(
    organization,
    () => applyAll(fits, (resource) => apply(organization, resource, loops, { act, mode, reason: reason.trim() })),
    (failed) => {
      setRefused(failed);
      if (failed.length > 0) return;
      close();
      done?.();
    },
  );
  const needsCount = act === "delete";
  return (
    <Dialog
      wide
      open
      onOpenChange={(open) => !open && close()}
      title={titles[act]}
      description={`Fits ${fits.length} of the ${picked.length} chosen.${note === undefined ? "" : ` ${note}`}`}
    >
      {act === "mode" ? (
        <SelectField
          label="Mode"
          value={mode}
          onChange={(event) => setMode(event.target.value as Mode)}
          hint="A lower scope can only be stricter than what is above it."
        >
          <option value="observe">observe – look and report</option>
          <option value="propose">propose – every change waits for a person</option>
          <option value="enforce">enforce – act within the guards</option>
        </SelectField>
      ) : undefined}
      {act === "pause" ? (
        <TextField
          label="Why"
          required
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          hint="Their loops go on looking and write nothing for an hour, or until somebody resumes."
        />
      ) : undefined}
      {needsCount ? (
        <p className="mb-3 rounded-md bg-bad-wash px-3 py-2 text-sm">
          {deletes.data === undefined ? (
            deletes.error === null ? (
              "Counting what would be deleted outside…"
            ) : (
              `What would be deleted outside could not be counted: ${deletes.error.message}`
            )
          ) : (
            <>
              <b className="text-bad">
                {fits.length > countedAtMost ? "At least " : ""}
                {deletes.data} thing{deletes.data === 1 ? "" : "s"} outside
              </b>{" "}
              would be deleted with {fits.length} declaration{fits.length === 1 ? "" : "s"}
              {fits.length > countedAtMost ? `, of which ${countedAtMost} were counted` : ""}. What is over the budgets
              waits for approval.
            </>
          )}
        </p>
      ) : undefined}
      <ul className="mb-3 max-h-60 divide-y divide-line overflow-y-auto rounded-md border border-line text-sm">
        {sorted.map(({ resource, why }) => (
          <li key={resource.metadata.uid} className="flex items-start gap-2 px-3 py-1.5">
            <Icon
              name={why === undefined ? "check" : "cross"}
              className={why === undefined ? "text-good" : "text-soft"}
            />
            <span className="@container min-w-0 flex-1">
              <span className="block truncate">
                <span className="text-soft">{resource.kind}/</span>
                {resource.metadata.name}
              </span>
              <AxesLine resource={resource} />
              {why === undefined ? undefined : <span className="block text-xs text-soft">left out: {why}</span>}
            </span>
          </li>
        ))}
      </ul>
      {others.length === picked.length ? <p className="text-sm">This fits none of them.</p> : undefined}
      {needsCount && fits.length > 0 ? (
        <TextField
          label={`How many declarations are deleted? Type ${fits.length}`}
          inputMode="numeric"
          autoComplete="off"
          value={count}
          onChange={(event) => setCount(event.target.value)}
        />
      ) : undefined}
      {run.error === null ? undefined : <ProblemNote error={run.error} />}
      {refused.length === 0 ? undefined : <RefusedNote refused={refused} of={fits.length} />}
      <DialogActions close={close}>
        <Button
          tone={act === "delete" ? "danger" : "primary"}
          busy={run.isPending}
          disabled={
            fits.length === 0 ||
            (needsCount && deletes.data === undefined) ||
            (needsCount && count.trim() !== String(fits.length)) ||
            (act === "pause" && reason.trim().length < 3)
          }
          onClick={() => run.mutate()}
        >
          {titles[act]} ({fits.length})
        </Button>
      </DialogActions>
    </Dialog>
  );
}

interface Refused {
  readonly resource: ResourceDocument;
  readonly error: ApiProblem;
}

/** One that is refused does not keep the others from being done; those that were not are named with the reason. */
async function applyAll(
  resources: readonly ResourceDocument[],
  act: (resource: ResourceDocument) => Promise<void>,
): Promise<readonly Refused[]> {
  const refused: Refused[] = [];
  for (const resource of resources)
    try {
      await act(resource);
    } catch (thrown) {
      // A proof is asked for once, for all of them; without a server there is nothing to go on with.
      if (!(thrown instanceof ApiProblem) || thrown.code === "STEP_UP_REQUIRED" || thrown.problem.status === 0)
        throw thrown;
      refused.push({ resource, error: thrown });
    }
  return refused;
}

function RefusedNote({ refused, of }: { refused: readonly Refused[]; of: number }) {
  return (
    <div role="alert" className="mb-3 rounded-md border border-bad bg-bad-wash px-3 py-2 text-sm">
      <p className="font-medium text-bad">
        {of - refused.length} of {of} done, {refused.length} refused
      </p>
      <ul className="mt-1 max-h-40 overflow-y-auto">
        {refused.map(({ resource, error }) => (
          <li key={resource.metadata.uid} className="break-words">
            <b>{resource.metadata.name}</b>: {error.message}
          </li>
        ))}
      </ul>
    </div>
  );
}

async function apply(
  organization: string,
  resource: ResourceDocument,
  loops: LoopsDocument | undefined,
  { act, mode, reason }: { readonly act: Act; readonly mode: Mode; readonly reason: string },
): Promise<void> {
  const on = pathOf(resource, loops);
  const path = `${base(organization)}/${on}`;
  const headers = { "if-match": `"${resource.metadata.revision}"` };
  const manifest = manifestOf(resource);
  if (act === "look") await api("POST", `${path}:reconcile`);
  else if (act === "pause")
    await api("POST", `${base(organization)}/pauses`, { body: { on, level: "writes", reason, forSeconds: 3_600 } });
  else if (act === "delete") await api("DELETE", path, { headers });
  else await api("PUT", path, { headers, body: { ...manifest, metadata: { ...manifest.metadata, mode } } });
}

async function countDeletes(
  organization: string,
  resources: readonly ResourceDocument[],
  loops: LoopsDocument | undefined,
): Promise<number> {
  let sum = 0;
  for (const resource of resources) {
    const headers = { "if-match": `"${resource.metadata.revision}"` };
    const plan = await api<DryRunDocument>("DELETE", `${base(organization)}/${pathOf(resource, loops)}?dryRun=true`, {
      headers,
    });
    sum += plan.subjects.reduce((total, { sizes }) => total + sizes.delete, 0);
  }
  return sum;
}
