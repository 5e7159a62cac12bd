import { useState } from "react";
import { Button } from "../components/button.tsx";
import { AdoptDialog } from "./adopt-dialog.tsx";
import { IgnoreDialog } from "./ignore-dialog.tsx";
import { RevertDialog } from "./revert-dialog.tsx";
import type { DriftTarget } from "./target.ts";

const dialogs = { revert: RevertDialog, adopt: AdoptDialog, ignore: IgnoreDialog } as const;

/** The three answers to a difference: put it back, take it over, or leave it. */
export function DriftActions({
  organization,
  targets,
  fields,
}: {
  organization: string;
  targets: readonly DriftTarget[];
  /** Whether a field of something that is there differs; what is missing or too much can only be put right. */
  fields: boolean;
}) {
  const [asking, setAsking] = useState<keyof typeof dialogs>();
  const Asked = asking === undefined ? undefined : dialogs[asking];
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      <Button icon="refresh" onClick={() => setAsking("revert")}>
        Revert…
      </Button>
      {fields ? (
        <>
          <Button icon="check" onClick={() => setAsking("adopt")}>
            Adopt…
          </Button>
          <Button icon="eye" onClick={() => setAsking("ignore")}>
            Ignore…
          </Button>
        </>
      ) : undefined}
      {Asked === undefined ? undefined : (
        <Asked organization={organization} targets={targets} close={() => setAsking(undefined)} />
      )}
    </span>
  );
}
