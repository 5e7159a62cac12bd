import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ObjectTab } from "../pages/object/route.tsx";
import type { LoopsDocument, ResourceDocument } from "../api/types.ts";

/** A resource's place below its organization, in the words of the API's routes. */
export function pathOf({ kind, metadata }: Omit<ResourceDocument, "spec">, loops: LoopsDocument | undefined): string {
  const { project, workspace, name } = metadata;
  const plural = loops?.kinds.find((entry) => entry.kind === kind)?.plural ?? `${kind.toLowerCase()}s`;
  const parts = [
    project === undefined ? "" : `projects/${project}/`,
    workspace === undefined ? "" : `workspaces/${workspace}/`,
  ];
  return `${parts.join("")}${plural}/${name}`;
}

/** The same from a route of the API, as answers link to resources. */
export function pathOfLink(link: string): string {
  return link.split("/").slice(4).join("/");
}

export function ObjectLink({
  organization,
  path,
  tab,
  children,
}: {
  organization: string;
  path: string;
  /** The part of its page; the overview without it. */
  tab?: ObjectTab;
  children: ReactNode;
}) {
  return (
    <Link
      to="/o/$organization/objects/$"
      params={{ organization, _splat: path }}
      search={tab === undefined ? {} : { tab }}
      className="font-medium break-words text-accent hover:underline"
    >
      {children}
    </Link>
  );
}
