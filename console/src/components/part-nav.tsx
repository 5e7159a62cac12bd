import { Link } from "@tanstack/react-router";
import { useCallback } from "react";

/** On a narrow screen the tabs reach behind its edge: the one that is shown is brought into sight. */
export function useInSight(): (element: HTMLElement | null) => void {
  return useCallback((element: HTMLElement | null) => {
    const nav = element?.parentElement;
    if (element === null || nav === null || nav === undefined) return;
    // Sideways alone: bringing the element itself into view would scroll the page, too.
    const show = () => {
      nav.scrollLeft = element.offsetLeft - nav.offsetLeft - (nav.clientWidth - element.offsetWidth) / 2;
    };
    show();
    // The tabs are as wide as their letters, which come a moment later the first time.
    void document.fonts.ready.then(show);
  }, []);
}

/** The parts of a page, each with an address of its own. */
export function PartNav<Part extends string>({
  label,
  parts,
  part,
}: {
  label: string;
  parts: readonly { readonly part: Part; readonly title: string }[];
  part: Part;
}) {
  const [first] = parts;
  const inSight = useInSight();
  return (
    <nav aria-label={label} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
      {parts.map((entry) => (
        <Link
          key={entry.part}
          ref={entry.part === part ? inSight : undefined}
          to="."
          search={entry.part === first?.part ? {} : ({ part: entry.part } as object)}
          aria-current={entry.part === part ? "page" : undefined}
          className={`-mb-px border-b-2 px-3 py-2 text-sm font-medium whitespace-nowrap ${entry.part === part ? "border-accent text-accent" : "border-transparent text-soft hover:text-ink"}`}
        >
          {entry.title}
        </Link>
      ))}
    </nav>
  );
}

/** Reads the part from the address; what is not one is the first. */
export function partSearch<Part extends string>(parts: readonly Part[]) {
  return (search: Record<string, unknown>): { part?: Part } => {
    const part = parts.find((entry) => entry === search["part"]);
    return part === undefined || part === parts[0] ? {} : { part };
  };
}
