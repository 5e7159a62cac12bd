/** Numbers that DNS gives to types, classes, operations and answers (RFC 1035, 2136, 8945, and the registry of IANA). */

const numbersOfTypes = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  AAAA: 28,
  LOC: 29,
  SRV: 33,
  NAPTR: 35,
  CERT: 37,
  DNAME: 39,
  OPT: 41,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  SPF: 99,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  URI: 256,
  CAA: 257,
} as const;

const byName = new Map<string, number>(Object.entries(numbersOfTypes));
const byNumber = new Map<number, string>(Object.entries(numbersOfTypes).map(([name, number]) => [number, name]));

/** A type without a name is written TYPEn (RFC 3597 5). */
export function typeName(number: number): string {
  return byNumber.get(number) ?? `TYPE${number}`;
}

export function typeNumber(name: string): number | undefined {
  const unnamed = /^TYPE(\d{1,5})$/.exec(name);
  return byName.get(name) ?? (unnamed === null || Number(unnamed[1]) > 65_535 ? undefined : Number(unnamed[1]));
}

export const classes = { internet: 1, none: 254, any: 255 } as const;
export const operations = { query: 0, update: 5 } as const;

export const answerCodes = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  noSuchName: 3,
  notImplemented: 4,
  refused: 5,
  nameExists: 6,
  setExists: 7,
  setMissing: 8,
  notAuthoritative: 9,
  notInZone: 10,
  badSignature: 16,
  badKey: 17,
  badTime: 18,
  badTruncation: 22,
} as const;
