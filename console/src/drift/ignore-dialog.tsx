import { useState } from "react";
import { api, apiWithHeaders } from "../api/client.ts";
import { base } from "../api/queries.ts";
import type { PolicyDocument } from "../api/types.ts";
import { useAction } from "../components/action.ts";
import { Button } from "../components/button.tsx";
import { Dialog, DialogActions } from "../components/dialog.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { ProblemNote } from "../components/states.tsx";
import { type DriftTarget, scopeOf } from "./target.ts";

type Rule = NonNullable<PolicyDocument["ignore"]>[number];

const dayMs = 86_400_000;
const dateIn = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

/** Leaves a field as it is, with a reason and, unless somebody says otherwise, an end. */
export function IgnoreDialog({
  organization,
  targets,
  close,
}: {
  organization: string;
  targets: readonly DriftTarget[];
  close: () => void;
}) {
  const [first] = targets;
  const fields = [...new Set(targets.flatMap((target) => target.fields))];
  const [field, setField] = useState(fields[0] ?? "");
  const [wide, setWide] = useState(first?.item === undefined ? "resource" : "item");
  const [until, setUntil] = useState(dateIn(7));
  const [reason, setReason] = useState("");
  const ignore = useAction(
    organization,
    async () => {
      const end = until === "" ? {} : { until: `${until}T00:00:00Z` };
      const rules = targets.map((target): { scope: string; rule: Rule } => ({
        scope: wide === "kind" ? "" : scopeOf(target),
        rule: {
          kind: target.kind,
          ...(wide === "kind" ? {} : { name: target.name }),
          ...(wide === "item" && target.item !== undefined ? { item: target.item } : {}),
          field,
          reason: reason.trim(),
          ...end,
        },
      }));
      await addRules(organization, rules);
    },
    close,
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={`Leave ${field === "" ? "it" : field} as it is`}
      description={`${named(targets)}. It is seen and shown as before, and nobody acts upon it. Making and removing go on.`}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ignore.mutate();
        }}
      >
        <SelectField label="Field" value={field} onChange={({ target }) => setField(target.value)}>
          {fields.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
        <SelectField
          label="Where"
          value={wide}
          onChange={({ target }) => setWide(target.value)}
          hint={
            wide === "kind"
              ? "A rule of the organization."
              : "A rule of the scope that it lives in; it is listed on the Drift page."
          }
        >
          {first?.item === undefined ? undefined : <option value="item">of the item {first.item} alone</option>}
          <option value="resource">of {targets.length === 1 ? `every item of ${first?.name ?? ""}` : "these"}</option>
          <option value="kind">of every {first?.kind} of the organization</option>
        </SelectField>
        <TextField
          label="Until"
          type="date"
          min={dateIn(1)}
          value={until}
          onChange={({ target }) => setUntil(target.value)}
          hint="From then on it is put right again, at midnight UTC. Empty: until somebody takes the rule back."
        />
        <TextField
          label="Why"
          required
          minLength={3}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          hint="Whoever finds the difference reads it."
        />
        {ignore.error === null ? undefined : <ProblemNote error={ignore.error} />}
        <DialogActions close={close}>
          <Button
            type="submit"
            tone="primary"
            icon="eye"
            busy={ignore.isPending}
            disabled={field === "" || reason.trim().length < 3}
          >
            Ignore it
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function named(targets: readonly DriftTarget[]): string {
  const [first, ...others] = targets;
  return `${first?.kind ?? ""}/${first?.name ?? ""}${others.length === 0 ? "" : ` and ${others.length} more`}`;
}

const isSame = (one: Rule, other: Rule) =>
  one.kind === other.kind && one.name === other.name && one.item === other.item && one.field === other.field;

/** Each scope's policy once, with the version that was read: nobody's rule is lost. */
async function addRules(organization: string, rules: readonly { scope: string; rule: Rule }[]): Promise<void> {
  for (const [scope, entries] of Map.groupBy(rules, (entry) => entry.scope)) {
    const path = `${base(organization)}/${scope}policy`;
    const { body, headers } = await apiWithHeaders<PolicyDocument>("GET", path);
    const added = entries
      .map(({ rule }) => rule)
      .filter((rule, index, all) => all.findIndex((one) => isSame(one, rule)) === index);
    const kept = (body.ignore ?? []).filter((one) => !added.some((rule) => isSame(one, rule)));
    await api("PUT", path, {
      headers: { "if-match": headers.get("etag") ?? '"0"' },
      body: { ...body, ignore: [...kept, ...added] },
    });
  }
}

/** Takes one rule back, wherever it stands. */
export async function removeRule(organization: string, scope: string, rule: Rule): Promise<void> {
  const path = `${base(organization)}/${scope}policy`;
  const { body, headers } = await apiWithHeaders<PolicyDocument>("GET", path);
  await api("PUT", path, {
    headers: { "if-match": headers.get("etag") ?? '"0"' },
    body: { ...body, ignore: (body.ignore ?? []).filter((one) => !isSame(one, rule)) },
  });
}
