import { useQuery } from "@tanstack/react-query";
import { createRootRoute, createRoute, Link, Outlet, redirect } from "@tanstack/react-router";
import { ApiProblem } from "../api/client.ts";
import { demoQuery } from "../api/demo.ts";
import { queryClient } from "../api/query-client.ts";
import { figuresQuery, organizationsQuery } from "../api/queries.ts";
import { Empty, ProblemNote } from "../components/states.tsx";
import { lastOrganization } from "./last-organization.ts";
import { Shell } from "./shell.tsx";

function NoSuchPage() {
  return (
    <Empty icon="search" title="There is no such page">
      <a className="text-accent underline" href="/">
        To the start
      </a>
    </Empty>
  );
}

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: NoSuchPage,
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
    const { organization } = organizationRoute.useParams();
    const { error } = useQuery(figuresQuery(organization));
    const isUnknown = error instanceof ApiProblem && error.code === "ORGANIZATION_UNKNOWN";
    return isUnknown ? <UnknownOrganization name={organization} /> : <Shell organization={organization} />;
  },
  notFoundComponent: NoSuchPage,
});

/** A link of somebody else, or of yesterday: one answer instead of a page on which every part fails. */
function UnknownOrganization({ name }: { name: string }) {
  const organizations = useQuery(organizationsQuery).data ?? [];
  return (
    <Empty icon="building" title={`There is no organization ${name}, or you do not belong to it`}>
      {organizations.length === 0 ? undefined : (
        <ul className="flex flex-wrap justify-center gap-x-3">
          {organizations.map((organization) => (
            <li key={organization.name}>
              <Link
                to="/o/$organization/now"
                params={{ organization: organization.name }}
                className="text-accent underline"
              >
                {organization.name}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Empty>
  );
}
