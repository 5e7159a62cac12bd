import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client.ts";
import { meQuery } from "../api/queries.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icons.tsx";
import { Menu, MenuHeading, MenuItem } from "../components/menu.tsx";
import { setTheme, storedTheme, type Theme } from "./theme.ts";

const themes = [
  ["system", "screen", "As the system has it"],
  ["light", "sun", "Light"],
  ["dark", "moon", "Dark"],
] as const;

export function PersonMenu({ organization }: { organization: string }) {
  const navigate = useNavigate();
  const me = useQuery(meQuery).data;
  const [theme, setShown] = useState<Theme>(storedTheme());
  const name = me?.person?.name ?? me?.name ?? "";
  return (
    <Menu
      trigger={
        <Button tone="quiet" className="px-1.5" aria-label={name === "" ? "You" : `You are ${name}`}>
          <Icon name="person" />
        </Button>
      }
    >
      <div className="max-w-64 px-2.5 py-1.5 break-words">
        <div className="text-sm font-semibold">{name}</div>
        <div className="text-xs text-soft">{me?.person?.email ?? me?.type}</div>
      </div>
      <MenuHeading>Look</MenuHeading>
      {themes.map(([value, icon, words]) => (
        <MenuItem
          key={value}
          checked={theme === value}
          onClick={() => {
            setTheme(value);
            setShown(value);
          }}
        >
          <Icon name={icon} size={14} />
          {words}
        </MenuItem>
      ))}
      <MenuHeading>Session</MenuHeading>
      <MenuItem
        onClick={() =>
          void navigate({ to: "/o/$organization/access", params: { organization }, search: { part: "sessions" } })
        }
      >
        <Icon name="key" size={14} />
        Passkeys, codes and password
      </MenuItem>
      <MenuItem
        onClick={() =>
          void api("DELETE", "/v1/session")
            .catch(() => undefined)
            .then(() => location.assign("/sign-in"))
        }
      >
        <Icon name="back" size={14} />
        Sign out
      </MenuItem>
    </Menu>
  );
}
