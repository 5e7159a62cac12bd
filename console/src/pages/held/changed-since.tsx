import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { heldQuery } from "../../api/queries.ts";
import type { HeldChangeDocument } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Icon, type IconName } from "../../components/icons.tsx";
import { Panel } from "../../components/panel.tsx";
import { Ago } from "../../components/time.tsx";
import { approvedBefore, type ChangedItems, changedItems, knownItem } from "./changed-items.ts";
import { rememberSeen, seenBefore } from "./seen-before.ts";

/** What is other than what this person last saw of it, and than what was last approved. */
export function ChangedSince({ organization, change }: { organization: string; change: HeldChangeDocument }) {
  const [seen, setSeen] = useState(() => seenBefore(change.id));
  const isOpen = change.state === "open";
  useEffect(() => {
    if (seen === undefined) setSeen(rememberSeen(change, Date.now()));
  }, [seen, change]);
  const approved = useQuery({ ...heldQuery(organization, "approved"), enabled: isOpen });
  if (!isOpen) return undefined;
  const before = approvedBefore(change, approved.data?.items ?? []);
  const now = change.items.map(knownItem);
  const moved = seen !== undefined && seen.digest !== change.digest;
  if (!moved && before === undefined) return undefined;
  return (
    <Panel title="What changed since">
      {moved ? (
        <section>
          <h3 className="text-sm font-medium">
            since you looked <Ago at={seen.at} />
          </h3>
          <Changes changes={changedItems(seen.items, now)} same="The same items, from another look." />
          <Button className="mt-2" icon="eye" onClick={() => setSeen(rememberSeen(change, Date.now()))}>
            I have seen it
          </Button>
        </section>
      ) : undefined}
      {before === undefined ? undefined : (
        <section className={moved ? "mt-3 border-t border-line pt-3" : ""}>
          <h3 className="text-sm font-medium">
            since {before.decidedBy ?? "somebody"} approved the last one{" "}
            {before.decidedAt === undefined ? undefined : <Ago at={before.decidedAt} />}
          </h3>
          <Changes changes={changedItems(before.items.map(knownItem), now)} same="Just what was approved then." />
        </section>
      )}
    </Panel>
  );
}

const lines: readonly [keyof ChangedItems, string, IconName, string][] = [
  ["added", "new", "plus", "text-warn"],
  ["other", "otherwise", "differs", "text-warn"],
  ["gone", "no longer in it", "back", "text-soft"],
];
const named = 10;

function Changes({ changes, same }: { changes: ChangedItems; same: string }) {
  const shown = lines.filter(([part]) => changes[part].length > 0);
  if (shown.length === 0) return <p className="mt-1 text-sm text-soft">{same}</p>;
  return (
    <ul className="mt-1 space-y-1 text-sm">
      {shown.map(([part, word, icon, tone]) => (
        <li key={part} className="flex gap-2">
          <Icon name={icon} className={`mt-0.5 ${tone}`} />
          <span className="min-w-0 break-words">
            <b className="font-medium">
              {changes[part].length} {word}:
            </b>{" "}
            <code className="text-xs break-all">{changes[part].slice(0, named).join(", ")}</code>
            {changes[part].length > named ? ` and ${changes[part].length - named} more` : ""}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Whether this person saw another version of it. */
export function hasMoved(change: HeldChangeDocument): boolean {
  const seen = seenBefore(change.id);
  return change.state === "open" && seen !== undefined && seen.digest !== change.digest;
}
