// The real counterparts the tests in test/real talk to: the one list of what test:real installs and looks for.

/**
 * @typedef {object} Counterpart
 * @property {string} name how tests and people call it
 * @property {string[]} programs any one of these means it is there
 * @property {string[]} [files] where it has no program: any one of these means it is there
 * @property {string[]} packages the Debian packages that bring it
 */

/** @type {Counterpart[]} */
export const counterparts = [
  { name: "PowerDNS", programs: ["pdns_server"], packages: ["pdns-server", "pdns-backend-sqlite3", "sqlite3"] },
  { name: "BIND", programs: ["named"], packages: ["bind9", "bind9-dnsutils"] },
  { name: "Knot", programs: ["knotd"], packages: ["knot", "bind9-dnsutils"] },
  { name: "Prometheus", programs: ["promtool"], packages: ["prometheus"] },
  { name: "Chromium", programs: ["chromium", "chromium-browser"], packages: ["chromium"] },
  { name: "OpenSSH", programs: ["sshd"], packages: ["openssh-server"] },
  { name: "hcloud", programs: ["hcloud"], packages: ["hcloud-cli"] },
  {
    name: "python3-hcloud",
    programs: [],
    files: ["/usr/lib/python3/dist-packages/hcloud/__init__.py"],
    packages: ["python3-hcloud"],
  },
];
