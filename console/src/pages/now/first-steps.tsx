import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { demoQuery } from "../../api/demo.ts";
import { Button } from "../../components/button.tsx";

const remembered = "setpoint.first-steps";

/** What a newcomer does in the demo, until they have seen it. */
export function FirstSteps({ organization }: { organization: string }) {
  const tray = useQuery(demoQuery).data;
  const [seen, setSeen] = useState(() => localStorage.getItem(remembered) === "seen");
  if (seen || tray === undefined || tray.organization !== organization) return undefined;
  const put = () => {
    localStorage.setItem(remembered, "seen");
    setSeen(true);
  };
  return (
    <section
      aria-label="First steps"
      className="mb-4 rounded-lg border border-accent bg-accent-wash px-3.5 py-3 text-sm"
    >
      <div className="flex items-start gap-3">
        <p className="min-w-0 flex-1">
          <b>This is a demo.</b> Its clouds and its DNS server are simulated, on this machine alone; everything else is
          the real product at work.
        </p>
        <Button tone="quiet" className="-my-1.5 -mr-1.5" onClick={put}>
          Got it
        </Button>
      </div>
      <ol className="mt-2 grid gap-x-6 gap-y-2 md:grid-cols-3">
        <li>
          <b>1. Break something…</b> in the strip above: see which guard speaks, and what you can do.
        </li>
        <li>
          <b>2. Decide.</b>{" "}
          <Link to="/o/$organization/held" params={{ organization }} className="text-accent underline">
            Held changes
          </Link>{" "}
          wait for a person: approve exactly what you saw, or reject it.
        </li>
        <li>
          <b>3. Your own.</b>{" "}
          <Link to="/o/$organization/connect" params={{ organization }} className="text-accent underline">
            Look at your own Hetzner project
          </Link>
          , read-only: paste a token, and see what is there.
        </li>
      </ol>
    </section>
  );
}
