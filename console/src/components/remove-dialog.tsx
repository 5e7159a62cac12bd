import type { ReactNode } from "react";
import { api } from "../api/client.ts";
import { useAction } from "./action.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import type { IconName } from "./icons.tsx";
import { ProblemNote } from "./states.tsx";

export type Fact = readonly [name: string, value: ReactNode];

/** Removes one thing of the platform's own records, after saying what that means. */
export function RemoveDialog({
  path,
  verb = "Remove",
  name,
  ...rest
}: Omit<Parameters<typeof ConfirmDialog>[0], "act" | "title" | "verb"> & {
  /** Its route in the API. */
  path: string;
  verb?: string;
  name: string;
}) {
  return <ConfirmDialog {...rest} title={`${verb} ${name}`} verb={verb} act={() => api("DELETE", path)} />;
}

/** Says what stops, or starts, before it is done. The first thing that Enter reaches is to leave it. */
export function ConfirmDialog({
  organization,
  act,
  title,
  means,
  facts = [],
  verb,
  icon = "trash",
  tone = "danger",
  disabled = false,
  wide = false,
  close,
  children,
}: {
  /** Undefined for what is somebody's own. */
  organization: string | undefined;
  act: () => Promise<unknown>;
  title: string;
  means: ReactNode;
  /** What tells this one from others like it. */
  facts?: readonly Fact[];
  verb: string;
  icon?: IconName;
  tone?: "danger" | "primary";
  disabled?: boolean;
  wide?: boolean;
  close: () => void;
  children?: ReactNode;
}) {
  const confirm = useAction(organization, act, close);
  return (
    <Dialog open wide={wide} onOpenChange={(open) => !open && close()} title={title} description={means}>
      {facts.length === 0 ? undefined : (
        <dl className="grid gap-x-4 gap-y-0.5 text-sm sm:grid-cols-[auto_minmax(0,1fr)]">
          {facts.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="mb-1 min-w-0 break-words sm:mb-0">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {children}
      {confirm.error === null ? undefined : <ProblemNote error={confirm.error} />}
      <DialogActions close={close}>
        <Button tone={tone} icon={icon} busy={confirm.isPending} disabled={disabled} onClick={() => confirm.mutate()}>
          {verb}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
