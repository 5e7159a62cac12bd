const key = "setpoint.organization";

/** The start leads back to the organization that was looked at last. */
export function rememberOrganization(organization: string): void {
  localStorage.setItem(key, organization);
}

export function lastOrganization(): string | undefined {
  return localStorage.getItem(key) ?? undefined;
}
