import { Link } from "@tanstack/react-router";
import type { HeldChangeDocument } from "../../api/types.ts";
import { Counts } from "../../components/counts.tsx";
import { Icon } from "../../components/icons.tsx";
import { Chip } from "../../components/mark.tsx";
import { plainWords } from "../../components/plain-words.ts";
import { Ago, Until } from "../../components/time.tsx";

import { hasMoved } from "./changed-since.tsx";

/** What deletes comes first, then what replaces; among equals the oldest. */
export function inOrder(changes: readonly HeldChangeDocument[]): readonly HeldChangeDocument[] {
  const weight = ({ blastRadius: { actions } }: HeldChangeDocument) =>
    (actions["delete"] ?? 0) > 0 ? 0 : (actions["replace"] ?? 0) > 0 ? 1 : 2;
  return changes.toSorted((left, right) => weight(left) - weight(right) || left.openedAt.localeCompare(right.openedAt));
}

const types: Readonly<Record<HeldChangeDocument["type"], string>> = {
  plan: "Plan",
  policy: "Change of the rules",
  "pause-end": "End of a pause",
  declaration: "Declaration",
};

export function titleOf(change: HeldChangeDocument): string {
  const [first] = change.items;
  if (change.type !== "plan" || first === undefined) return types[change.type];
  const others = new Set(change.items.map(({ kind, name }) => `${kind}/${name}`)).size - 1;
  return `${first.kind}/${first.name}${others > 0 ? ` and ${others} more` : ""}`;
}

export function HeldRow({ organization, change }: { organization: string; change: HeldChangeDocument }) {
  return (
    <li>
      <Link
        to="/o/$organization/held/$id"
        params={{ organization, id: change.id }}
        className="flex items-center gap-3 px-3.5 py-2.5 hover:bg-sunken"
      >
        <span className="min-w-0 flex-1">
          <span className="flex flex-wrap items-center gap-x-3">
            <span className="min-w-0 font-medium break-words">{titleOf(change)}</span>
            <Counts counts={change.blastRadius.actions} />
            {hasMoved(change) ? (
              <Chip tone="warn" icon="differs">
                changed since you looked
              </Chip>
            ) : undefined}
            {change.overdue ? (
              <Chip tone="bad" icon="clock">
                overdue
              </Chip>
            ) : undefined}
          </span>
          <span className="block text-sm break-words text-soft">
            <b className="font-medium text-hold">{change.guard}</b>: {plainWords(change.verdict.reason)}
          </span>
          <span className="block text-xs text-soft">
            opened <Ago at={change.openedAt} />
            {change.state === "open" ? (
              <>
                {" "}
                · to be decided <Until at={change.deadline} word="within" />
              </>
            ) : (
              <>
                {" "}
                · {change.state} by {change.decidedBy ?? "the loop"}
              </>
            )}
          </span>
        </span>
        <Icon name="arrow" className="text-soft" />
      </Link>
    </li>
  );
}
