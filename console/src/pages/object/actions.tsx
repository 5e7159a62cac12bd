import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { Mode } from "../../api/parts.ts";
import type { DryRunDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { modeAxis } from "../../components/axes.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { DryRunView } from "../../components/dry-run.tsx";
import { TextField } from "../../components/field.tsx";
import { Icon } from "../../components/icons.tsx";
import { Menu, MenuHeading, MenuItem } from "../../components/menu.tsx";
import { ConfirmDialog } from "../../components/remove-dialog.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { manifestOf } from "./manifest.ts";
import type { AboutObject } from "./page.tsx";

const modes: readonly Mode[] = ["observe", "propose", "enforce"];

export function ObjectActions({ organization, path, resource, hasLoop }: AboutObject & { hasLoop: boolean }) {
  const link = `${base(organization)}/${path}`;
  const [asking, setAsking] = useState<"delete" | "pause" | Mode>();
  const look = useAction(organization, () => api("POST", `${link}:reconcile`));
  const { error } = look;
  const holding = resource.status.effectiveMode?.mode ?? resource.metadata.mode;
  const close = () => setAsking(undefined);
  return (
    <>
      {hasLoop ? (
        <>
          <Button icon="refresh" busy={look.isPending} onClick={() => look.mutate()}>
            Look again
          </Button>
          <Menu
            trigger={
              <Button icon={modeAxis(holding).icon}>
                Mode: {modeAxis(holding).word}
                <Icon name="chevron" size={12} />
              </Button>
            }
          >
            <MenuHeading>
              How far its loop may go{resource.metadata.mode === undefined ? "; its scope says it so far" : ""}
            </MenuHeading>
            {modes.map((mode) => (
              <MenuItem key={mode} checked={mode === resource.metadata.mode} onClick={() => setAsking(mode)}>
                <Icon name={modeAxis(mode).icon} size={14} />
                <span>
                  {mode}
                  <span className="block text-xs font-normal text-soft">{modeAxis(mode).title}</span>
                </span>
              </MenuItem>
            ))}
          </Menu>
          <Button icon="pause" onClick={() => setAsking("pause")}>
            Pause…
          </Button>
        </>
      ) : undefined}
      {resource.metadata.deletion === undefined ? (
        <Button tone="danger" icon="trash" onClick={() => setAsking("delete")}>
          Delete…
        </Button>
      ) : undefined}
      {error === null ? undefined : (
        <div className="basis-full">
          <ProblemNote error={error} />
        </div>
      )}
      {asking === "delete" ? (
        <DeleteDialog organization={organization} path={path} resource={resource} close={close} />
      ) : undefined}
      {asking === "pause" ? (
        <PauseDialog organization={organization} path={path} resource={resource} close={close} />
      ) : undefined}
      {asking === "observe" || asking === "propose" || asking === "enforce" ? (
        <ModeDialog organization={organization} path={path} resource={resource} mode={asking} close={close} />
      ) : undefined}
    </>
  );
}

/** What the loop would do under the mode is shown before it may. */
function ModeDialog({ organization, path, resource, mode, close }: AboutObject & { mode: Mode; close: () => void }) {
  const link = `${base(organization)}/${path}`;
  const headers = { "if-match": `"${resource.metadata.revision}"` };
  const manifest = manifestOf(resource);
  const body = { ...manifest, metadata: { ...manifest.metadata, mode } };
  const plan = useQuery({
    queryKey: ["mode-plan", link, mode, resource.metadata.revision],
    queryFn: () => api<DryRunDocument>("PUT", `${link}?dryRun=true`, { headers, body }),
    staleTime: 0,
  });
  return (
    <ConfirmDialog
      wide
      organization={organization}
      act={() => api("PUT", link, { headers, body })}
      title={`Mode ${mode} for ${resource.kind}/${resource.metadata.name}`}
      means={`${modeAxis(mode).title}. This is what its loop would do with it; the guards are asked again before each write.`}
      verb={`Set ${mode}`}
      icon={modeAxis(mode).icon}
      tone={mode === "enforce" ? "danger" : "primary"}
      disabled={plan.data === undefined}
      close={close}
    >
      <Answer of={plan} what="the plan">
        {(found) => <DryRunView plan={found} />}
      </Answer>
    </ConfirmDialog>
  );
}

/** What would go outside is shown and counted before anything is deleted. */
function DeleteDialog({ organization, path, resource, close }: AboutObject & { close: () => void }) {
  const link = `${base(organization)}/${path}`;
  const headers = { "if-match": `"${resource.metadata.revision}"` };
  const [orphan, setOrphan] = useState(false);
  const [count, setCount] = useState("");
  const plan = useQuery({
    queryKey: ["delete-plan", link, orphan, resource.metadata.revision],
    queryFn: () => api<DryRunDocument>("DELETE", `${link}?dryRun=true${orphan ? "&orphan=true" : ""}`, { headers }),
    staleTime: 0,
  });
  const deletes = (plan.data?.subjects ?? []).reduce((sum, { sizes }) => sum + sizes.delete, 0);
  const remove = useAction(
    organization,
    () => api("DELETE", `${link}${orphan ? "?orphan=true" : deletes > 0 ? `?confirm=${deletes}` : ""}`, { headers }),
    close,
  );
  return (
    <Dialog
      wide
      open
      onOpenChange={(open) => !open && close()}
      title={`Delete ${resource.kind}/${resource.metadata.name}`}
      description="This is what would go. Evidence, budgets and protection are checked again before each delete."
    >
      <label className="mb-3 flex items-center gap-2 text-sm">
        <input type="checkbox" checked={orphan} onChange={({ target }) => setOrphan(target.checked)} />
        Leave what it made outside where it is; only forget the declaration
      </label>
      <Answer of={plan} what="the plan">
        {(found) => <DryRunView plan={found} />}
      </Answer>
      {deletes > 0 ? (
        <div className="mt-3">
          <TextField
            label={`How many things outside are deleted? Type ${deletes}`}
            inputMode="numeric"
            autoComplete="off"
            value={count}
            onChange={({ target }) => setCount(target.value)}
            hint="The number goes with the request: whoever deletes by name and confirms the count approves it, unless four eyes applies."
          />
        </div>
      ) : undefined}
      {remove.error === null ? undefined : <ProblemNote error={remove.error} />}
      <DialogActions close={close}>
        <Button
          tone="danger"
          icon="trash"
          busy={remove.isPending}
          disabled={plan.data === undefined || (deletes > 0 && count.trim() !== String(deletes))}
          onClick={() => remove.mutate()}
        >
          Delete
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function PauseDialog({ organization, path, resource, close }: AboutObject & { close: () => void }) {
  const [reason, setReason] = useState("");
  const pause = useAction(
    organization,
    () =>
      api("POST", `${base(organization)}/pauses`, {
        body: { on: path, level: "writes", reason: reason.trim(), forSeconds: 3_600 },
      }),
    close,
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={`Pause ${resource.kind}/${resource.metadata.name}`}
      description="Its loop goes on looking and writes nothing for an hour."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          pause.mutate();
        }}
      >
        <TextField
          label="Why"
          autoFocus
          required
          minLength={3}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
        {pause.error === null ? undefined : <ProblemNote error={pause.error} />}
        <DialogActions close={close}>
          <Button tone="primary" icon="pause" type="submit" busy={pause.isPending} disabled={reason.trim().length < 3}>
            Pause
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
