import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { heldQuery } from "../api/queries.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icons.tsx";
import { pages } from "../pages/pages.ts";
import { GuardStrip } from "./guard-strip.tsx";
import { rememberOrganization } from "./last-organization.ts";
import { LiveChip } from "./live.tsx";
import { OrganizationMenu } from "./organization-menu.tsx";
import { Palette } from "./palette.tsx";
import { PersonMenu } from "./person-menu.tsx";
import { StepUp } from "./step-up.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { usePagesAtHand } from "./use-pages-at-hand.ts";

export function Shell({ organization }: { organization: string }) {
  const [palette, setPalette] = useState(false);
  const [menu, setMenu] = useState(false);
  const navigate = useNavigate();
  useEffect(() => rememberOrganization(organization), [organization]);
  usePagesAtHand();
  useShortcuts({
    palette: () => setPalette(true),
    go: (key) => {
      const page = pages.find((entry) => entry.key === key);
      if (page !== undefined) void navigate({ to: page.to, params: { organization } });
    },
  });
  return (
    <div className="flex h-full flex-col">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2">
        To the content
      </a>
      <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-panel px-3">
        <div className="lg:hidden">
          <Button tone="quiet" className="px-1.5" aria-label="Menu" aria-expanded={menu} onClick={() => setMenu(!menu)}>
            <Icon name="menu" />
          </Button>
        </div>
        <Link
          to="/o/$organization/now"
          params={{ organization }}
          className="hidden items-center gap-2 pr-2 font-semibold sm:flex"
        >
          <Logo />
          Setpoint
        </Link>
        <OrganizationMenu organization={organization} />
        <div className="min-w-0 flex-1" />
        <div className="hidden md:block">
          <Button className="w-56 justify-start text-soft" icon="search" onClick={() => setPalette(true)}>
            <span className="flex-1 text-left font-normal">Search or go to…</span>
            <kbd className="rounded border border-line px-1 font-mono text-2xs">Ctrl K</kbd>
          </Button>
        </div>
        <div className="md:hidden">
          <Button tone="quiet" className="px-1.5" aria-label="Search" onClick={() => setPalette(true)}>
            <Icon name="search" />
          </Button>
        </div>
        <LiveChip organization={organization} />
        <PersonMenu organization={organization} />
      </header>
      <GuardStrip organization={organization} />
      <div className="flex min-h-0 flex-1">
        <Navigation organization={organization} open={menu} close={() => setMenu(false)} />
        <main id="main" tabIndex={-1} className="relative min-w-0 flex-1 overflow-y-auto outline-none">
          <div className="mx-auto max-w-[88rem] p-4 lg:p-6">
            <Outlet />
          </div>
        </main>
      </div>
      <Palette organization={organization} open={palette} onOpenChange={setPalette} />
      <StepUp />
    </div>
  );
}

function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" className="text-accent">
      <circle cx="16" cy="16" r="9" fill="none" stroke="currentColor" strokeWidth="3" />
      <circle cx="16" cy="16" r="3" fill="currentColor" />
      <path d="M16 2v6M16 24v6M2 16h6M24 16h6" stroke="currentColor" strokeWidth="3" strokeLinecap="round" />
    </svg>
  );
}

function Navigation({ organization, open, close }: { organization: string; open: boolean; close: () => void }) {
  const held = useQuery(heldQuery(organization)).data?.items.length ?? 0;
  return (
    <>
      {open ? (
        <div className="fixed inset-0 top-12 z-20 bg-shade lg:hidden" onClick={close} aria-hidden="true" />
      ) : undefined}
      <nav
        aria-label="Pages"
        className={`${open ? "fixed top-12 bottom-0 left-0 z-30 block shadow-raised" : "hidden"} w-52 shrink-0 overflow-y-auto border-r border-line bg-panel p-2 lg:static lg:block lg:shadow-none`}
      >
        <ul className="space-y-0.5">
          {pages.map(({ title, to, icon, key }) => (
            <li key={to}>
              <Link
                to={to}
                params={{ organization }}
                onClick={close}
                aria-keyshortcuts={`g ${key}`}
                className="flex h-8 items-center gap-2.5 rounded-md px-2 text-sm font-medium text-soft hover:bg-sunken hover:text-ink"
                activeProps={{ className: "!bg-accent-wash !text-accent", "aria-current": "page" }}
              >
                <Icon name={icon} />
                <span className="flex-1">{title}</span>
                {icon === "hand" && held > 0 ? (
                  <span className="rounded-full bg-hold-wash px-1.5 text-xs font-semibold text-hold tabular-nums">
                    {held}
                  </span>
                ) : undefined}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
}
