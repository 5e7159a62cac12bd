import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icons.tsx";

/** A question that stands in front of everything else. Escape and a click beside it close it. */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  children,
  wide = false,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  wide?: boolean;
}) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-shade" />
        <Base.Popup
          className={`fixed top-[8vh] left-1/2 z-50 flex max-h-[84vh] w-[calc(100vw-1.5rem)] -translate-x-1/2 flex-col rounded-lg border border-line bg-panel shadow-raised ${wide ? "max-w-3xl" : "max-w-lg"}`}
        >
          <header className="border-b border-line py-3 pr-12 pl-4">
            <Base.Title className="text-lg font-semibold">{title}</Base.Title>
            {description === undefined ? undefined : (
              <Base.Description className="mt-0.5 text-sm text-soft" render={<div />}>
                {description}
              </Base.Description>
            )}
          </header>
          <div className="min-h-0 overflow-y-auto p-4">{children}</div>
          {/* Last in the order of the keyboard: what the dialog asks comes first. */}
          <Base.Close
            aria-label="Close"
            className="absolute top-2 right-2 grid size-8 place-items-center rounded-md text-soft hover:bg-sunken hover:text-ink"
          >
            <Icon name="close" size={16} />
          </Base.Close>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

export function DialogActions({ children, close }: { children: ReactNode; close: () => void }) {
  return (
    <div className="mt-4 flex flex-wrap justify-end gap-2 border-t border-line pt-3">
      <Button tone="quiet" onClick={close}>
        Cancel
      </Button>
      {children}
    </div>
  );
}

/** Of a form that shows something once when it is done: first the button that sends it, then only one that closes it. */
export function OnceActions({
  close,
  done,
  icon,
  busy,
  disabled,
  children,
}: {
  close: () => void;
  done: boolean;
  icon: IconName;
  busy: boolean;
  disabled: boolean;
  children: ReactNode;
}) {
  return (
    <DialogActions close={close}>
      {done ? (
        <Button tone="primary" onClick={close}>
          Done
        </Button>
      ) : (
        <Button tone="primary" icon={icon} type="submit" busy={busy} disabled={disabled}>
          {children}
        </Button>
      )}
    </DialogActions>
  );
}
