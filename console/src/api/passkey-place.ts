/** Why no passkey can be made at this address, and what to open or have set up instead. */
export interface PasskeyHindrance {
  readonly why: string;
  /** The same page where one can be made. */
  readonly open?: string;
}

/** Passkeys belong to a name, and browsers make them only where nobody on the way can listen. */
export function passkeyHindrance(address: string, isSecureContext: boolean): PasskeyHindrance | undefined {
  const url = new URL(address);
  const { hostname } = url;
  if (/^127\.[\d.]+$|^\[::1\]$/.test(hostname)) {
    url.hostname = "localhost";
    return { why: `Passkeys belong to a name, and ${hostname} is a number.`, open: url.href };
  }
  const isNumber = /^[\d.]+$|^\[/.test(hostname);
  if (isSecureContext && !isNumber) return undefined;
  const why = isNumber ? `Passkeys belong to a name, and ${hostname} is a number.` : "Passkeys need HTTPS.";
  return {
    why: `${why} On the machine of the installation open http://localhost with its port; elsewhere have SETPOINT_PUBLIC_URL set to an address with https and a name, and open that.`,
  };
}
