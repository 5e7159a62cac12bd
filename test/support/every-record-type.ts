/** One record set of every type, as it is declared, with what is awkward about it. */
export interface DeclaredSet {
  readonly name: string;
  readonly type: string;
  readonly values: readonly string[];
  readonly ttlSeconds?: number;
}

export const everyRecordType: readonly DeclaredSet[] = [
  { name: "www", type: "A", values: ["192.0.2.10", "192.0.2.11"], ttlSeconds: 60 },
  { name: "never-cached", type: "A", values: ["192.0.2.12"], ttlSeconds: 0 },
  { name: "bücher", type: "AAAA", values: ["2001:DB8:0:0::1"] },
  { name: "*.apps", type: "CNAME", values: ["WWW.example.test"] },
  { name: "@", type: "MX", values: ["10 mail.elsewhere.test", "20 mail2.elsewhere.test"] },
  { name: "no-mail", type: "MX", values: ["0 ."] },
  { name: "@", type: "TXT", values: ['v=spf1 include:"x" -all é', "second"] },
  { name: "long", type: "TXT", values: [`k=${"0123456789".repeat(70)}`, String.raw`back\slash;semicolon`] },
  { name: "child", type: "NS", values: ["ns1.child.example.test", "ns.elsewhere.test"] },
  { name: "ns1.child", type: "A", values: ["192.0.2.53"] },
  { name: "_sip._tcp", type: "SRV", values: ["0 5 5060 sip.example.test", "10 0 5060 ."] },
  {
    name: "@",
    type: "CAA",
    values: ["0 issue letsencrypt.org", '128 iodef "mailto:a@example.test"', '0 issuewild ";"'],
  },
  { name: "4.3", type: "PTR", values: ["host.example.test"] },
  { name: "svc", type: "SVCB", values: ["1 a.example.test mandatory=port alpn=h2,h3 port=8443", "2 ."] },
  { name: "alias", type: "SVCB", values: ["0 pool.example.test"] },
  { name: "www", type: "HTTPS", values: ["1 . ipv6hint=2001:db8::1 ipv4hint=192.0.2.1,192.0.2.2 alpn=h2"] },
  { name: "_443._tcp.www", type: "TLSA", values: [`3 1 1 ${"AB".repeat(32)}`, `2 0 2 ${"cd".repeat(64)}`] },
];
