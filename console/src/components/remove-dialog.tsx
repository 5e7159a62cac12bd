import { api } from "../api/client.ts";
import { useAction } from "./action.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { ProblemNote } from "./states.tsx";

/** Removes one thing of the platform's own records, after saying what that means. */
export function RemoveDialog({
  organization,
  path,
  name,
  means,
  verb = "Remove",
  close,
}: {
  /** Undefined for what is somebody's own. */
  organization: string | undefined;
  /** Its route in the API. */
  path: string;
  name: string;
  means: string;
  verb?: string;
  close: () => void;
}) {
  const remove = useAction(organization, () => api("DELETE", path), close);
  return (
    <Dialog open onOpenChange={(open) => !open && close()} title={`${verb} ${name}`} description={means}>
      {remove.error === null ? undefined : <ProblemNote error={remove.error} />}
      <DialogActions close={close}>
        <Button tone="danger" icon="trash" busy={remove.isPending} onClick={() => remove.mutate()}>
          {verb}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
