import { useQuery } from "@tanstack/react-query";
import { api, get } from "../api/client.ts";
import { base } from "../api/queries.ts";
import type { DryRunDocument, ResourceDocument } from "../api/types.ts";
import { useAction } from "../components/action.ts";
import { Button } from "../components/button.tsx";
import { Dialog, DialogActions } from "../components/dialog.tsx";
import { DryRunView } from "../components/dry-run.tsx";
import { Icon } from "../components/icons.tsx";
import { Answer, ProblemNote } from "../components/states.tsx";
import { manifestOf } from "../pages/object/manifest.ts";
import type { DriftTarget } from "./target.ts";

/** Puts back what is declared: shows what the next cycle would do and what stands in its way, and has it run now. */
export function RevertDialog({
  organization,
  targets,
  close,
}: {
  organization: string;
  targets: readonly DriftTarget[];
  close: () => void;
}) {
  const plans = useQuery({
    queryKey: ["revert", organization, targets],
    queryFn: () => plansFor(organization, targets),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const found = plans.data ?? [];
  const writing = found.filter(({ plan }) => plan.subjects.some(({ mode }) => mode !== "observe"));
  const revert = useAction(
    organization,
    async () => {
      for (const { target } of writing) await api("POST", `${base(organization)}/${target.path}:reconcile`);
    },
    close,
  );
  return (
    <Dialog
      wide
      open
      onOpenChange={(open) => !open && close()}
      title="Put back what is declared"
      description="What the next cycle does about it, with every guard's word. A fresh look comes first."
    >
      <Answer of={plans} what="what would be done">
        {(all) => (
          <div className="space-y-4">
            {all.map(({ target, plan }) => (
              <section key={target.path} className="space-y-2">
                <h3 className="text-sm font-semibold">
                  {target.kind}/{target.name}
                </h3>
                {plan.subjects.every(({ mode }) => mode === "observe") ? (
                  <p className="flex gap-2 text-sm text-warn">
                    <Icon name="eye" className="mt-0.5" /> It is only observed: nothing is written. Set its mode first.
                  </p>
                ) : undefined}
                <DryRunView plan={plan} />
              </section>
            ))}
          </div>
        )}
      </Answer>
      {revert.error === null ? undefined : <ProblemNote error={revert.error} />}
      <DialogActions close={close}>
        <Button
          tone="primary"
          icon="refresh"
          busy={revert.isPending}
          disabled={writing.length === 0}
          onClick={() => revert.mutate()}
        >
          Put it back now{writing.length > 1 ? ` (${writing.length})` : ""}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Declaring it once more as it is changes nothing, and its plan is what is left to do. */
async function plansFor(organization: string, targets: readonly DriftTarget[]) {
  const plans: { target: DriftTarget; plan: DryRunDocument }[] = [];
  for (const target of targets) {
    const link = `${base(organization)}/${target.path}`;
    const resource = await get<ResourceDocument>(link);
    const headers = { "if-match": `"${resource.metadata.revision}"` };
    const body = manifestOf(resource);
    plans.push({ target, plan: await api<DryRunDocument>("PUT", `${link}?dryRun=true`, { headers, body }) });
  }
  return plans;
}
