import { createRootRoute, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { demoQuery } from "../api/demo.ts";
import { queryClient } from "../api/query-client.ts";
import { organizationsQuery } from "../api/queries.ts";
import { Empty, ProblemNote } from "../components/states.tsx";
import { lastOrganization } from "./last-organization.ts";
import { Shell } from "./shell.tsx";

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: () => (
    <Empty icon="search" title="There is no such page">
      <a className="text-accent underline" href="/">
        To the start
      </a>
    </Empty>
  ),
  errorComponent: ({ error }) => (
    <div className="mx-auto max-w-xl p-6">
      <ProblemNote error={error} retry={() => location.reload()} />
    </div>
  ),
});

/** The start leads to the organization that was looked at last. */
export const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  loader: async () => {
    const organizations = await queryClient.query(organizationsQuery);
    // Whoever comes for the first time begins with the demo, where there is one.
    const last = lastOrganization() ?? (await queryClient.query(demoQuery)).organization;
    const found = organizations.find(({ name }) => name === last) ?? organizations[0];
    if (found !== undefined)
      redirect({ to: "/o/$organization/now", params: { organization: found.name }, throw: true });
  },
  component: () => (
    <Empty icon="building" title="You belong to no organization yet">
      Ask somebody for an invite, or make one: <code>setpoint org create NAME</code>
    </Empty>
  ),
});

/** Everything of one organization, inside the shell. */
export const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/o/$organization",
  component: function Organization() {
    return <Shell organization={organizationRoute.useParams().organization} />;
  },
});
