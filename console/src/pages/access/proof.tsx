import type { ReactNode } from "react";

/** One way to prove it: its state, what it means, and what can be done about it. */
export function Proof({ title, state, children }: { title: string; state?: ReactNode; children: ReactNode }) {
  return (
    <div className="space-y-2 px-3.5 py-3 text-sm">
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <h3 className="font-medium">{title}</h3>
        {state}
      </div>
      {children}
    </div>
  );
}
