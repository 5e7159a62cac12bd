import { Link } from "@tanstack/react-router";

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
  return (
    <nav aria-label={label} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
      {parts.map((entry) => (
        <Link
          key={entry.part}
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
