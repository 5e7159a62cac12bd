import type { Action } from "../../ports/access.ts";

/**
 * What a route asks of its caller. Every route has exactly one; without it a route does not compile.
 *
 * - `nobody`: open to anybody, and therefore says nothing about anybody.
 * - `self`: whoever is signed in, about themselves.
 * - `platform`: a permission on the installation.
 * - `path`: a permission in the scope that the path names.
 * - `visible`: the scope of the path may be seen; the handler answers with what the caller may read, and no more.
 * - `found`: a permission in the scope of what the path names by its id. Only the handler, which finds it, knows that scope.
 */
export type Need =
  | { readonly at: "nobody" }
  | { readonly at: "self" }
  | { readonly at: "platform"; readonly key: string; readonly action: Action }
  | { readonly at: "path"; readonly key: string; readonly action: Action }
  | { readonly at: "visible"; readonly key: string }
  | { readonly at: "found"; readonly key: string; readonly action: Action };

/** As a person reads it: `organization.account.create`. */
export function needText(need: Need): string {
  if (need.at === "nobody" || need.at === "self") return need.at;
  return need.at === "visible" ? `${need.key}.read (filtered)` : `${need.key}.${need.action}`;
}
