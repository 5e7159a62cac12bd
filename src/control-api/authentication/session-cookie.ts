/** `__Host-`: the browser takes it only over TLS, for this very host, and lets no other host set or overwrite it. */
const secureName = "__Host-setpoint";
const plainName = "setpoint";

export function sessionCookie(token: string, options: { readonly secure: boolean; readonly lastsMs: number }): string {
  return cookie(token, options.secure, Math.floor(options.lastsMs / 1_000));
}

export function endedCookie(secure: boolean): string {
  return cookie("", secure, 0);
}

function cookie(value: string, secure: boolean, maxAgeSeconds: number): string {
  const name = secure ? secureName : plainName;
  const parts = [`${name}=${value}`, "Path=/", "HttpOnly", "SameSite=Lax", `Max-Age=${maxAgeSeconds}`];
  return [...parts, ...(secure ? ["Secure"] : [])].join("; ");
}

/** The token in a Cookie header. Where only TLS is served, a cookie that could have come without it does not count. */
export function tokenInCookie(header: string | undefined, onlySecure: boolean): string | undefined {
  const cookies = new Map(
    (header ?? "").split(";").map((part): [string, string] => {
      const [name = "", ...value] = part.trim().split("=");
      return [name, value.join("=")];
    }),
  );
  const found = cookies.get(secureName) ?? (onlySecure ? undefined : cookies.get(plainName));
  return found === "" ? undefined : found;
}
