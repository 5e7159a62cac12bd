import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { SelectField } from "../../components/field.tsx";
import { projectsQuery, rolesQuery } from "./queries.ts";

export function placeWords({ project, workspace }: { project?: string | undefined; workspace?: string | undefined }) {
  if (project === undefined) return "everywhere here";
  return `in ${project}${workspace === undefined ? "" : ` / ${workspace}`}`;
}

/** Which role, and where. */
export function useRolePlace() {
  const [role, setRole] = useState("member");
  const [project, setProject] = useState("");
  return { role, setRole, project, setProject, body: { role, ...(project === "" ? {} : { project }) } };
}

export function RolePlaceFields({
  organization,
  place,
}: {
  organization: string;
  place: ReturnType<typeof useRolePlace>;
}) {
  const roles = useQuery(rolesQuery(organization)).data ?? [];
  const projects = useQuery(projectsQuery(organization)).data ?? [];
  const chosen = roles.find(({ name }) => name === place.role);
  return (
    <div className="grid gap-x-3 sm:grid-cols-2">
      <SelectField
        label="Role"
        value={place.role}
        onChange={({ target }) => place.setRole(target.value)}
        hint={chosen?.description}
      >
        {roles.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField label="Where" value={place.project} onChange={({ target }) => place.setProject(target.value)}>
        <option value="">The whole organization</option>
        {projects.map(({ name }) => (
          <option key={name} value={name}>
            Project {name}
          </option>
        ))}
      </SelectField>
    </div>
  );
}
