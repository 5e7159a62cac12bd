import { useQuery } from "@tanstack/react-query";
import { stringify } from "yaml";
import { api, get } from "../api/client.ts";
import { base } from "../api/queries.ts";
import type { ComparedItem } from "../api/parts.ts";
import type { ComparisonDocument, DryRunDocument, Manifest, ResourceDocument } from "../api/types.ts";
import { useAction } from "../components/action.ts";
import { Button } from "../components/button.tsx";
import { Dialog, DialogActions } from "../components/dialog.tsx";
import { DryRunView } from "../components/dry-run.tsx";
import { Icon } from "../components/icons.tsx";
import { Answer, ProblemNote } from "../components/states.tsx";
import { TextDifference } from "../components/text.tsx";
import { manifestOf } from "../pages/object/manifest.ts";
import { type DriftTarget, itemsOf } from "./target.ts";

/** One resource that would be declared otherwise. */
interface Edit {
  readonly link: string;
  readonly resource: ResourceDocument;
  readonly manifest: Manifest;
  readonly plan: DryRunDocument;
}

interface Found {
  readonly edits: readonly Edit[];
  readonly unfit: readonly { readonly key: string; readonly why: string }[];
}

/** Declares what was seen, so that it is as it should be; with every edit and its plan shown first. */
export function AdoptDialog({
  organization,
  targets,
  close,
}: {
  organization: string;
  targets: readonly DriftTarget[];
  close: () => void;
}) {
  const found = useQuery({
    queryKey: ["adopt", organization, targets],
    queryFn: () => editsFor(organization, targets),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const adopt = useAction(
    organization,
    async ({ edits }: Found) => {
      for (const { link, resource, manifest } of edits)
        await api("PUT", link, { headers: { "if-match": `"${resource.metadata.revision}"` }, body: manifest });
    },
    close,
  );
  const count = found.data?.edits.length ?? 0;
  return (
    <Dialog
      wide
      open
      onOpenChange={(open) => !open && close()}
      title="Adopt what is outside"
      description="The declaration is changed to what was seen. Nothing outside changes by that."
    >
      <Answer of={found} what="what would be declared">
        {({ edits, unfit }) => (
          <div className="space-y-4">
            {unfit.map(({ key, why }) => (
              <p key={key} className="flex gap-2 text-sm">
                <Icon name="cross" className="mt-0.5 text-soft" />
                <span className="min-w-0 break-words">
                  <code>{key}</code> <span className="text-soft">is left out: {why}</span>
                </span>
              </p>
            ))}
            {edits.map((edit) => (
              <section key={edit.link} className="space-y-2">
                <h3 className="text-sm font-semibold">
                  {edit.resource.kind}/{edit.resource.metadata.name}
                </h3>
                <TextDifference
                  before={stringify(edit.resource.spec)}
                  after={stringify(edit.manifest.spec)}
                  beforeName="spec as it is"
                  afterName="spec as seen"
                />
                <DryRunView plan={edit.plan} />
              </section>
            ))}
            {edits.length === 0 && unfit.length === 0 ? (
              <p className="text-sm">Nothing differs any more.</p>
            ) : undefined}
          </div>
        )}
      </Answer>
      {adopt.error === null ? undefined : <ProblemNote error={adopt.error} />}
      <DialogActions close={close}>
        <Button
          tone="primary"
          icon="check"
          busy={adopt.isPending}
          disabled={count === 0}
          onClick={() => found.data !== undefined && adopt.mutate(found.data)}
        >
          Declare it as seen{count > 1 ? ` (${count})` : ""}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

async function editsFor(organization: string, targets: readonly DriftTarget[]): Promise<Found> {
  const items: ComparedItem[] = [];
  for (const target of targets)
    items.push(...itemsOf(await get<ComparisonDocument>(`${base(organization)}/${target.path}/comparison`), target));
  const unfit: { key: string; why: string }[] = [];
  const specs = new Map<string, Readonly<Record<string, unknown>>>();
  for (const { key, asSeen } of items) {
    if (asSeen === undefined || !asSeen.ok) unfit.push({ key, why: asSeen?.problem ?? "nothing declares it" });
    else specs.set(asSeen.link, { ...specs.get(asSeen.link), ...asSeen.spec });
  }
  const edits: Edit[] = [];
  for (const [link, spec] of specs) {
    const resource = await get<ResourceDocument>(link);
    const now = manifestOf(resource);
    const manifest = { ...now, spec: { ...(now.spec as object), ...spec } as Manifest["spec"] };
    const headers = { "if-match": `"${resource.metadata.revision}"` };
    const plan = await api<DryRunDocument>("PUT", `${link}?dryRun=true`, { headers, body: manifest });
    edits.push({ link, resource, manifest, plan });
  }
  return { edits, unfit };
}
