/** A place where the world does otherwise than a specification says, because the provider says so elsewhere. */
export interface Deviation {
  readonly specification: "hetzner-cloud" | "ionos";
  /** The operation, as METHOD /path; undefined: in all of them. */
  readonly operation: string | undefined;
  /** Where in the answer, as the validator names it. */
  readonly where: RegExp;
  readonly what: string;
  /** The line of the provider's documentation that says so. */
  readonly documented: string;
}

export const deviations: readonly Deviation[] = [
  {
    specification: "ionos",
    operation: undefined,
    where: /\/type must be object \{"type":"object"\}$/,
    what: "The type of an element is a string. The file says that it is an object and, at the same time, one of some strings.",
    documented:
      'components.schemas.Type of the same file: "type": "string", and every example in it: "type": "datacenter"',
  },
  {
    specification: "ionos",
    operation: undefined,
    where: /^(GET|POST|PATCH|PUT) .*items\/\d+ must have required property 'properties'/,
    what: "What is below the depth that was asked for is a reference: id, type and href, without properties.",
    documented: 'The parameter depth: "depth=1: Direct properties and children references are included."',
  },
  {
    specification: "ionos",
    operation: undefined,
    where: /^PATCH .* the body must have required property/,
    what: "PATCH takes those properties that are to change, and not all that a new element would need.",
    documented: '"Update the properties of the specified data center, rename it, or change the description."',
  },
  {
    specification: "ionos",
    operation: undefined,
    where: /^header Location must match pattern/,
    what: "Location is the address of the request's status. The file gives a picture of it where an expression belongs.",
    documented: 'The header Location: "Callback URL to poll async operation status."',
  },
  {
    specification: "ionos",
    operation: "POST /datacenters/{datacenterId}/servers/{serverId}/volumes",
    where: /the body must have required property 'properties'/,
    what: "An existing volume is attached by its id alone. The file has one schema for it and for a volume that is made at once.",
    documented:
      '"Attach an existing storage volume to the specified server. A volume [can] also be created and attached in one step by providing the new volume description as payload."',
  },
  {
    specification: "ionos",
    operation: undefined,
    where: /\/properties\/(sourceIp|targetIp) must (match pattern|be null|match a schema in anyOf)/,
    what: "A firewall rule is for an address or for a block of them. The file is from before blocks were possible.",
    documented:
      'FirewallruleProperties.sourceIp of the provider\'s SDK, 6.1.5: "Only traffic originating from the respective IP address (or CIDR block) is allowed."',
  },
];
