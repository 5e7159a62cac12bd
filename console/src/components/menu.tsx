import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";

/** Things to choose from, behind a button. */
export function Menu({ trigger, children }: { trigger: ReactElement; children: ReactNode }) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align="end" className="z-50">
          <Base.Popup className="max-h-[70vh] min-w-48 overflow-y-auto rounded-lg border border-line bg-panel p-1 shadow-raised outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem({
  children,
  onClick,
  checked,
}: {
  children: ReactNode;
  onClick: () => void;
  checked?: boolean;
}) {
  return (
    <Base.Item
      onClick={onClick}
      className={`flex cursor-pointer items-center gap-2 rounded-md px-2.5 py-1.5 text-sm outline-none data-[highlighted]:bg-sunken ${checked === true ? "font-semibold text-accent" : ""}`}
    >
      {children}
    </Base.Item>
  );
}

export function MenuHeading({ children }: { children: ReactNode }) {
  return <div className="px-2.5 pt-1.5 pb-1 text-2xs font-medium tracking-wide text-soft uppercase">{children}</div>;
}
