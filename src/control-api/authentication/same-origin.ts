import { Problem } from "../problem.ts";

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * A browser sends its cookies along with what other sites ask for. So whatever changes something and rests on a cookie must
 * come from our own pages: the browser says so in Sec-Fetch-Site, or, where it does not (plain HTTP on a network), in Origin.
 */
export function requireSameOrigin(method: string, headers: Headers): void {
  if (safeMethods.has(method)) return;
  const site = headers["sec-fetch-site"];
  const origin = headers["origin"];
  if (site !== undefined && site !== "same-origin" && site !== "none") throw foreign();
  if (origin !== undefined && hostOf(origin) !== headers["host"]) throw foreign();
  if (site === undefined && origin === undefined) throw foreign();
}

/** For what anybody may ask without a cookie, and gets one: another site must not sign its visitors in here. */
export function refuseOtherSites(headers: Headers): void {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") throw foreign();
  const origin = headers["origin"];
  if (origin !== undefined && hostOf(origin) !== headers["host"]) throw foreign();
}

function hostOf(origin: string): string | undefined {
  return URL.parse(origin)?.host;
}

function foreign(): Problem {
  return new Problem(
    "FORBIDDEN",
    "This request rests on a cookie and did not come from a page of this server: it was refused. Programs send a token instead of a cookie",
  );
}
