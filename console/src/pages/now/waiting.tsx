import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { heldQuery } from "../../api/queries.ts";
import { Panel } from "../../components/panel.tsx";
import { Answer, Empty } from "../../components/states.tsx";
import { HeldRow, inOrder } from "../held/held-row.tsx";
import { mayNotRead } from "./may-not-read.ts";

/** The first held changes: those that delete come first. */
export function Waiting({ organization }: { organization: string }) {
  const held = useQuery(heldQuery(organization));
  if (mayNotRead(held.error)) return undefined;
  return (
    <Panel
      title="Waiting for a person"
      flush
      aside={
        <Link to="/o/$organization/held" params={{ organization }} className="text-accent hover:underline">
          All held changes
        </Link>
      }
    >
      <Answer of={held} what="held changes">
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="hand" title="Nothing waits">
              A change that is too large, or that somebody must decide, waits here with its numbers.
            </Empty>
          ) : (
            <ul className="divide-y divide-line">
              {inOrder(items)
                .slice(0, 5)
                .map((change) => (
                  <HeldRow key={change.id} organization={organization} change={change} />
                ))}
            </ul>
          )
        }
      </Answer>
    </Panel>
  );
}
