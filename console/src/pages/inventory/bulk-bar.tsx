import { useState } from "react";
import type { ResourceDocument } from "../../api/types.ts";
import { type Act, BulkDialog } from "../../components/bulk-dialog.tsx";
import { Button } from "../../components/button.tsx";

/** What can be done to all that is chosen. Each action says first which rows it fits. */
export function BulkBar({
  organization,
  picked,
  clear,
}: {
  organization: string;
  picked: readonly ResourceDocument[];
  clear: () => void;
}) {
  const [act, setAct] = useState<Act>();
  return (
    <div
      role="toolbar"
      aria-label="Chosen resources"
      className="sticky bottom-0 mt-2 flex flex-wrap items-center gap-2 rounded-lg border border-accent bg-panel px-3 py-2 shadow-raised"
    >
      <b className="text-sm font-medium tabular-nums">{picked.length} chosen</b>
      <span className="flex-1" />
      <Button icon="refresh" onClick={() => setAct("look")}>
        Look again
      </Button>
      <Button icon="shield" onClick={() => setAct("mode")}>
        Set mode…
      </Button>
      <Button icon="pause" onClick={() => setAct("pause")}>
        Suspend…
      </Button>
      <Button tone="danger" icon="trash" onClick={() => setAct("delete")}>
        Delete…
      </Button>
      <Button tone="quiet" onClick={clear}>
        Clear
      </Button>
      {act === undefined ? undefined : (
        <BulkDialog
          organization={organization}
          act={act}
          picked={picked}
          close={() => setAct(undefined)}
          done={clear}
        />
      )}
    </div>
  );
}
