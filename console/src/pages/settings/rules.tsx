import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, apiWithHeaders } from "../../api/client.ts";
import { base, keys, limitsQuery } from "../../api/queries.ts";
import type { HeldChangeDocument, LimitsDocument, PolicyDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { LimitsTable } from "../../components/limits-table.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";

interface Stands {
  readonly policy: PolicyDocument;
  readonly etag: string;
}

/** What holds here and why, and what this organization itself says. */
export function Rules({ organization }: { organization: string }) {
  const limits = useQuery(limitsQuery(organization));
  // The form begins anew with every policy; that it was set here is said by whoever stays.
  const [isSet, setIsSet] = useState(false);
  const policy = useQuery({
    queryKey: [...keys.record(organization, "policy"), "own"],
    queryFn: async (): Promise<Stands> => {
      const { body, headers } = await apiWithHeaders<PolicyDocument>("GET", `${base(organization)}/policy`);
      return { policy: body, etag: headers.get("etag") ?? '"0"' };
    },
  });
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(20rem,2fr)]">
      <Panel title="What holds" flush aside="a raised limit is itself a held change">
        <Answer of={limits} what="limits">
          {(found) => (
            <>
              <LimitsTable limits={found.limits} />
              <IgnoredFields rules={found.ignore ?? []} />
            </>
          )}
        </Answer>
      </Panel>
      <Panel title="What this organization says">
        <Answer of={policy} what="the policy">
          {(stands) => (
            <PolicyForm
              key={stands.etag}
              organization={organization}
              stands={stands}
              usual={deletesOf(limits.data?.limits ?? [])}
              isSet={isSet}
              setIsSet={setIsSet}
            />
          )}
        </Answer>
      </Panel>
    </div>
  );
}

function IgnoredFields({ rules }: { rules: readonly { kind: string; field: string; reason: string; from: string }[] }) {
  if (rules.length === 0) return undefined;
  return (
    <ul className="divide-y divide-line border-t border-line text-sm">
      {rules.map((rule) => (
        <li key={`${rule.kind} ${rule.field} ${rule.from}`} className="px-3.5 py-2 break-words">
          <code>{rule.field}</code> of {rule.kind} is left as it is, by {rule.from}: {rule.reason}
        </li>
      ))}
    </ul>
  );
}

/** Tightening is in force at once; what loosens a rule waits for a person, and says where. */
function PolicyForm({
  organization,
  stands: { policy, etag },
  usual,
  isSet,
  setIsSet,
}: {
  organization: string;
  stands: Stands;
  /** What holds now: a count that is set keeps the rest of it. */
  usual: DeleteLimit;
  isSet: boolean;
  setIsSet: (isSet: boolean) => void;
}) {
  const [mode, setMode] = useState<string>(policy.mode ?? "");
  const [fourEyes, setFourEyes] = useState(policy.fourEyes ?? false);
  const [deletes, setDeletes] = useState(String(policy.limits?.deletesPerCycle?.count ?? ""));
  const [changes, setChanges] = useState(String(policy.limits?.changesPerCycle ?? ""));
  const next = policyOf(policy, usual, { mode, fourEyes, deletes, changes });
  const save = useAction(
    organization,
    () =>
      api<PolicyDocument | HeldChangeDocument>("PUT", `${base(organization)}/policy`, {
        headers: { "if-match": etag },
        body: next,
      }),
    (answer) => setIsSet(!("digest" in answer)),
  );
  const held = save.data !== undefined && "digest" in save.data ? save.data : undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setIsSet(false);
        save.mutate();
      }}
    >
      <SelectField
        label="Mode"
        value={mode}
        onChange={({ target }) => setMode(target.value)}
        hint="How far loops may go, unless a project or a resource says less."
      >
        <option value="">What the platform says</option>
        <option value="observe">observe: only look</option>
        <option value="propose">propose: every change waits</option>
        <option value="enforce">enforce: keep it as declared</option>
      </SelectField>
      <div className="grid gap-x-3 sm:grid-cols-2">
        <TextField
          label="Deletes per cycle"
          inputMode="numeric"
          pattern="[0-9]*"
          value={deletes}
          onChange={({ target }) => setDeletes(target.value)}
          hint="Empty: the default. Never above the ceiling."
        />
        <TextField
          label="Changes per cycle"
          inputMode="numeric"
          pattern="[0-9]*"
          value={changes}
          onChange={({ target }) => setChanges(target.value)}
          hint="The rest follows in the next cycle."
        />
      </div>
      <label className="mb-3 flex items-center gap-2 text-sm">
        <input type="checkbox" checked={fourEyes} onChange={({ target }) => setFourEyes(target.checked)} />
        Four eyes: whoever asks for something cannot approve it
      </label>
      {save.error === null ? undefined : <ProblemNote error={save.error} />}
      {held === undefined ? undefined : (
        <p role="status" className="mb-3 rounded-md bg-hold-wash px-3 py-2 text-sm text-hold">
          It loosens a rule, so it waits for a person:{" "}
          <Link to="/o/$organization/held/$id" params={{ organization, id: held.id }} className="underline">
            look at it
          </Link>
        </p>
      )}
      {isSet ? (
        <p role="status" className="mb-3 text-sm text-good">
          In force.
        </p>
      ) : undefined}
      <div className="flex justify-end">
        <Button
          tone="primary"
          type="submit"
          busy={save.isPending}
          disabled={JSON.stringify(next) === JSON.stringify(policyOf(policy, usual, undefined))}
        >
          Set it
        </Button>
      </div>
    </form>
  );
}

type DeleteLimit = NonNullable<NonNullable<PolicyDocument["limits"]>["deletesPerCycle"]>;

function deletesOf(limits: LimitsDocument["limits"]): DeleteLimit {
  const value = limits.find(({ name }) => name === "deletesPerCycle")?.value;
  return typeof value === "object" ? value : { count: 0, percent: 0, atLeast: 0 };
}

interface Wanted {
  readonly mode: string;
  readonly fourEyes: boolean;
  readonly deletes: string;
  readonly changes: string;
}

/** What is not on the form stays as it was. */
function policyOf(policy: PolicyDocument, usual: DeleteLimit, wanted: Wanted | undefined): PolicyDocument {
  const { ceiling, protect, ignore, limits = {} } = policy;
  const { deletesPerCycle, changesPerCycle, ...others } = limits;
  const { mode, fourEyes, deletes, changes }: Wanted = wanted ?? {
    mode: policy.mode ?? "",
    fourEyes: policy.fourEyes ?? false,
    deletes: String(deletesPerCycle?.count ?? ""),
    changes: String(changesPerCycle ?? ""),
  };
  const next = {
    ...others,
    ...(deletes.trim() === "" ? {} : { deletesPerCycle: { ...(deletesPerCycle ?? usual), count: Number(deletes) } }),
    ...(changes.trim() === "" ? {} : { changesPerCycle: Number(changes) }),
  };
  return {
    ...(ceiling === undefined ? {} : { ceiling }),
    ...(protect === undefined ? {} : { protect }),
    ...(ignore === undefined ? {} : { ignore }),
    ...(mode === "" ? {} : { mode: mode as NonNullable<PolicyDocument["mode"]> }),
    ...(fourEyes ? { fourEyes } : {}),
    ...(Object.keys(next).length === 0 ? {} : { limits: next }),
  };
}
