import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get, query } from "../../api/client.ts";
import type { ExplanationDocument } from "../../api/types.ts";
import { SelectField, TextField } from "../../components/field.tsx";
import { Mark } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { membersQuery, permissionsQuery, projectsQuery } from "./queries.ts";

/** Whether somebody may do something, and by which role: the answer that the API itself would act on. */
export function ExplainBox({ organization }: { organization: string }) {
  const permissions = useQuery(permissionsQuery);
  const members = useQuery(membersQuery(organization)).data ?? [];
  const projects = useQuery(projectsQuery(organization)).data ?? [];
  const [who, setWho] = useState("");
  const [permission, setPermission] = useState("organization.pause");
  const [action, setAction] = useState("create");
  const [project, setProject] = useState("");
  const known = permissions.data?.find(({ key }) => key === permission);
  const asked = { permission, action, organization, project, as: who.trim() };
  const explained = useQuery({
    queryKey: ["explain", asked],
    queryFn: () => get<ExplanationDocument>(`/v1/access/explain${query(asked)}`),
    enabled: known?.actions.some((entry) => entry === action) === true,
    retry: false,
  });
  return (
    <Panel title="May they?">
      <TextField
        label="Who"
        list="explain-members"
        placeholder="you"
        value={who}
        onChange={({ target }) => setWho(target.value)}
        hint="An e-mail address; empty: you yourself."
      />
      <datalist id="explain-members">
        {members.map(({ email }) => (
          <option key={email} value={email} />
        ))}
      </datalist>
      <div className="grid gap-x-3 sm:grid-cols-2">
        <SelectField
          label="What"
          value={permission}
          hint={known?.description}
          onChange={({ target }) => {
            setPermission(target.value);
            const actions = permissions.data?.find(({ key }) => key === target.value)?.actions ?? [];
            if (!actions.some((entry) => entry === action)) setAction(actions[0] ?? "read");
          }}
        >
          {(permissions.data ?? []).map(({ key }) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </SelectField>
        <SelectField label="How" value={action} onChange={({ target }) => setAction(target.value)}>
          {(known?.actions ?? []).map((entry) => (
            <option key={entry} value={entry}>
              {entry}
            </option>
          ))}
        </SelectField>
      </div>
      <SelectField label="Where" value={project} onChange={({ target }) => setProject(target.value)}>
        <option value="">The organization {organization}</option>
        {projects.map(({ name }) => (
          <option key={name} value={name}>
            Project {name}
          </option>
        ))}
      </SelectField>
      <div aria-live="polite">
        {explained.error === null ? (
          <Answer of={explained} what="the answer">
            {(found) => (
              <p className={`rounded-md px-3 py-2 text-sm ${found.allowed ? "bg-good-wash" : "bg-bad-wash"}`}>
                <Mark tone={found.allowed ? "good" : "bad"} icon={found.allowed ? "check" : "cross"}>
                  {found.who} {found.allowed ? "may" : "may not"}
                </Mark>
                <span className="block break-words">{found.because}</span>
              </p>
            )}
          </Answer>
        ) : (
          <ProblemNote error={explained.error} />
        )}
      </div>
    </Panel>
  );
}
