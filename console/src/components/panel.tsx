import type { ReactNode } from "react";

/** A titled part of a page. */
export function Panel({
  title,
  aside,
  children,
  flush = false,
  id,
}: {
  title?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  /** Without inner spacing: for tables and lists that reach the edge. */
  flush?: boolean;
  id?: string;
}) {
  return (
    <section id={id} className="min-w-0 rounded-lg border border-line bg-panel">
      {title === undefined ? undefined : (
        <header className="flex min-h-10 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line px-3.5 py-1.5">
          <h2 className="text-sm font-semibold">{title}</h2>
          {aside === undefined ? undefined : <div className="flex items-center gap-2 text-xs text-soft">{aside}</div>}
        </header>
      )}
      <div className={flush ? "" : "p-3.5"}>{children}</div>
    </section>
  );
}

export function PageHeader({ title, children, lead }: { title: ReactNode; lead?: ReactNode; children?: ReactNode }) {
  return (
    <header className="mb-4 flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight break-words">{title}</h1>
        {lead === undefined ? undefined : <p className="mt-0.5 max-w-3xl text-sm text-soft">{lead}</p>}
      </div>
      {children === undefined ? undefined : <div className="flex flex-wrap items-center gap-2">{children}</div>}
    </header>
  );
}
