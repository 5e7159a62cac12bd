import { useState } from "react";
import { Button } from "../components/button.tsx";
import { AdoptDialog } from "./adopt-dialog.tsx";
import { IgnoreDialog } from "./ignore-dialog.tsx";
import { RevertDialog } from "./revert-dialog.tsx";
import type { DriftTarget } from "./target.ts";

const reverts = { create: "Create now…", delete: "Delete now…" } as const;
const dialogs = { revert: RevertDialog, adopt: AdoptDialog, ignore: IgnoreDialog } as const;

/** The three answers to a difference: put it back, take it over, or leave it. */
export function DriftActions({
  organization,
  targets,
  fields,
  revert,
}: {
  organization: string;
  targets: readonly DriftTarget[];
  /** Whether a field of something that is there differs; what is missing or too much can only be put right. */
  fields: boolean;
  /** What putting it right comes to where nothing is put back: nobody deletes because a button said "revert". */
  revert?: "create" | "delete" | undefined;
}) {
  const [asking, setAsking] = useState<keyof typeof dialogs>();
  const Asked = asking === undefined ? undefined : dialogs[asking];
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      <Button icon={revert === "delete" ? "trash" : "refresh"} onClick={() => setAsking("revert")}>
        {revert === undefined ? "Revert…" : reverts[revert]}
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
