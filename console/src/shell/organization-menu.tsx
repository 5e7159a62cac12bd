import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { organizationsQuery } from "../api/queries.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icons.tsx";
import { Menu, MenuHeading, MenuItem } from "../components/menu.tsx";

export function OrganizationMenu({ organization }: { organization: string }) {
  const organizations = useQuery(organizationsQuery);
  const navigate = useNavigate();
  return (
    <Menu
      trigger={
        <Button tone="quiet" className="max-w-40 min-w-0 sm:max-w-64" aria-label={`Organization ${organization}`}>
          <Icon name="building" size={14} />
          <span className="truncate text-ink" title={organization}>
            {organization}
          </span>
          <Icon name="chevron" size={12} />
        </Button>
      }
    >
      <MenuHeading>Organizations</MenuHeading>
      {(organizations.data ?? []).map(({ name }) => (
        <MenuItem
          key={name}
          checked={name === organization}
          onClick={() => void navigate({ to: "/o/$organization/now", params: { organization: name } })}
        >
          {name}
        </MenuItem>
      ))}
    </Menu>
  );
}
