/** Asks Hetzner Cloud and answers with what came back. */
export type Ask = (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly body: unknown }>;

type Made = Readonly<Record<string, { readonly id: number } | undefined>>;

const day = "2026-01-01T00:00:00Z";
const hour = "2026-01-01T01:00:00Z";

/** Every operation of the API that the world offers, well asked, in an order in which each of them succeeds. */
export class HetznerWalk {
  readonly #ask: Ask;
  readonly #certificate: { readonly certificate: string; readonly privateKey: string };

  constructor(ask: Ask, certificate: { readonly certificate: string; readonly privateKey: string }) {
    this.#ask = ask;
    this.#certificate = certificate;
  }

  async all(): Promise<void> {
    await this.catalogue();
    const key = await this.sshKeys();
    const network = await this.networks();
    const group = await this.#make("/placement_groups", "placement_group", { name: "spread", type: "spread" });
    await this.#things("placement_groups", group);
    const server = await this.servers(key, network, group);
    await this.images(server);
    await this.firewalls(server);
    await this.volumes(server);
    await this.floatingIps(server);
    await this.primaryIps(server);
    await this.loadBalancers(server, network);
    await this.zones();
    await this.ends(server, network, group, key);
  }

  async catalogue(): Promise<void> {
    for (const path of ["locations", "datacenters", "server_types", "load_balancer_types", "isos"]) {
      const list = await this.#well("GET", `/${path}?per_page=50`);
      const [first] = list[path] as unknown as readonly { readonly id: number }[];
      await this.#well("GET", `/${path}/${first?.id ?? 0}`);
    }
    await this.#well("GET", "/pricing");
  }

  async sshKeys(): Promise<number> {
    const public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3tqf0qF6MAt7ZbfW5NmBBBcQaG7DMRaGqHDjk3DKPV walk";
    const key = await this.#make("/ssh_keys", "ssh_key", { name: "walker", public_key, labels: { a: "b" } });
    await this.#things("ssh_keys", key);
    return key;
  }

  async networks(): Promise<number> {
    const network = await this.#make("/networks", "network", {
      name: "inner",
      ip_range: "10.0.0.0/16",
      subnets: [{ type: "cloud", ip_range: "10.0.1.0/24", network_zone: "eu-central" }],
      routes: [{ destination: "10.100.1.0/24", gateway: "10.0.1.1" }],
    });
    await this.#things("networks", network);
    const act = this.#actions("networks", network);
    await act("add_subnet", { type: "cloud", ip_range: "10.0.2.0/24", network_zone: "eu-central" });
    await act("delete_subnet", { ip_range: "10.0.2.0/24" });
    await act("add_route", { destination: "10.100.2.0/24", gateway: "10.0.1.1" });
    await act("delete_route", { destination: "10.100.2.0/24", gateway: "10.0.1.1" });
    await act("change_ip_range", { ip_range: "10.0.0.0/12" });
    await act("change_protection", { delete: true });
    await act("change_protection", { delete: false });
    await this.#actionLists("networks", network);
    return network;
  }

  async servers(key: number, network: number, group: number): Promise<number> {
    const server = await this.#make("/servers", "server", {
      name: "walk-1",
      server_type: "cx23",
      image: "debian-13",
      location: "nbg1",
      ssh_keys: [String(key)],
      networks: [network],
      placement_group: group,
      labels: { role: "walk" },
      user_data: "#cloud-config\n",
    });
    await this.#things("servers", server);
    const act = this.#actions("servers", server);
    for (const verb of ["reboot", "reset", "reset_password", "request_console", "enable_backup"]) await act(verb);
    await act("enable_rescue", { type: "linux64", ssh_keys: [key] });
    await act("disable_rescue");
    await act("attach_iso", { iso: "FreeBSD-14.3-RELEASE-amd64-dvd1.iso" });
    await act("detach_iso");
    await act("change_alias_ips", { network, alias_ips: ["10.0.1.77"] });
    await act("detach_from_network", { network });
    await act("attach_to_network", { network });
    await act("change_protection", { delete: true, rebuild: true });
    await act("change_protection", { delete: false, rebuild: false });
    const { server: shown } = (await this.#well("GET", `/servers/${server}`)) as unknown as {
      readonly server: { readonly public_net: { readonly ipv4: { readonly ip: string } } };
    };
    await act("change_dns_ptr", { ip: shown.public_net.ipv4.ip, dns_ptr: "walk.example.test" });
    await act("shutdown");
    await act("poweron");
    await act("poweroff");
    await act("remove_from_placement_group");
    await act("add_to_placement_group", { placement_group: group });
    await act("change_type", { server_type: "cx33", upgrade_disk: false });
    await this.#well("GET", `/servers/${server}/metrics?type=cpu&start=${day}&end=${hour}`);
    await this.#actionLists("servers", server);
    return server;
  }

  async images(server: number): Promise<void> {
    await this.#well("GET", "/images?type=system&sort=name:desc&per_page=50");
    const { image } = await this.#well("POST", `/servers/${server}/actions/create_image`, { type: "snapshot" });
    const id = image?.id ?? 0;
    await this.#well("GET", `/images/${id}`);
    await this.#well("PUT", `/images/${id}`, { description: "walked", labels: { a: "b" } });
    await this.#well("POST", `/images/${id}/actions/change_protection`, { delete: true });
    await this.#well("POST", `/images/${id}/actions/change_protection`, { delete: false });
    await this.#actionLists("images", id);
    await this.#well("POST", `/servers/${server}/actions/rebuild`, { image: String(id) });
    await this.#well("DELETE", `/images/${id}`);
    await this.#well("POST", `/servers/${server}/actions/disable_backup`);
  }

  async firewalls(server: number): Promise<void> {
    const rule = {
      direction: "in",
      protocol: "tcp",
      port: "22",
      source_ips: ["0.0.0.0/0", "::/0"],
      description: "ssh",
    };
    const firewall = await this.#make("/firewalls", "firewall", { name: "wall", rules: [rule] });
    await this.#things("firewalls", firewall);
    const act = this.#actions("firewalls", firewall);
    await act("set_rules", { rules: [rule, { direction: "out", protocol: "icmp", destination_ips: ["::/0"] }] });
    const to = [
      { type: "server", server: { id: server } },
      { type: "label_selector", label_selector: { selector: "role=none" } },
    ];
    await act("apply_to_resources", { apply_to: to });
    await this.#well("GET", `/firewalls/${firewall}`);
    await this.#well("GET", `/servers/${server}`);
    await act("remove_from_resources", { remove_from: to });
    await this.#actionLists("firewalls", firewall);
    await this.#well("DELETE", `/firewalls/${firewall}`);
  }

  async volumes(server: number): Promise<void> {
    const volume = await this.#make("/volumes", "volume", { name: "disk", size: 10, location: "nbg1", format: "ext4" });
    await this.#things("volumes", volume);
    const act = this.#actions("volumes", volume);
    await act("attach", { server, automount: false });
    await this.#well("GET", `/volumes/${volume}`);
    await act("detach");
    await act("resize", { size: 20 });
    await act("change_protection", { delete: false });
    await this.#actionLists("volumes", volume);
    await this.#well("DELETE", `/volumes/${volume}`);
  }

  async floatingIps(server: number): Promise<void> {
    const body = { type: "ipv4", home_location: "nbg1", description: "walked", name: "floating" };
    const ip = await this.#make("/floating_ips", "floating_ip", body);
    await this.#things("floating_ips", ip);
    const act = this.#actions("floating_ips", ip);
    await act("assign", { server });
    const { floating_ip } = (await this.#well("GET", `/floating_ips/${ip}`)) as unknown as {
      readonly floating_ip: { readonly ip: string };
    };
    await act("change_dns_ptr", { ip: floating_ip.ip, dns_ptr: "floating.example.test" });
    await act("unassign");
    await act("change_protection", { delete: false });
    await this.#actionLists("floating_ips", ip);
    await this.#well("DELETE", `/floating_ips/${ip}`);
  }

  async primaryIps(server: number): Promise<void> {
    await this.#well("POST", `/servers/${server}/actions/poweroff`);
    const { server: shown } = (await this.#well("GET", `/servers/${server}`)) as unknown as {
      readonly server: { readonly public_net: { readonly ipv6: { readonly id: number } } };
    };
    const own = shown.public_net.ipv6.id;
    await this.#well("POST", `/primary_ips/${own}/actions/unassign`);
    await this.#well("POST", `/primary_ips/${own}/actions/assign`, { assignee_id: server, assignee_type: "server" });
    const body = { name: "kept", type: "ipv4", assignee_type: "server", location: "nbg1", auto_delete: false };
    const ip = await this.#make("/primary_ips", "primary_ip", body);
    await this.#things("primary_ips", ip);
    const act = this.#actions("primary_ips", ip);
    const { primary_ip } = (await this.#well("GET", `/primary_ips/${ip}`)) as unknown as {
      readonly primary_ip: { readonly ip: string };
    };
    await act("change_dns_ptr", { ip: primary_ip.ip, dns_ptr: "kept.example.test" });
    await act("change_protection", { delete: false });
    await this.#actionLists("primary_ips", ip);
    await this.#well("DELETE", `/primary_ips/${ip}`);
    await this.#well("POST", `/servers/${server}/actions/poweron`);
  }

  async loadBalancers(server: number, network: number): Promise<void> {
    const certificate = await this.certificates();
    const health_check = { protocol: "tcp", port: 80, interval: 15, timeout: 10, retries: 3 };
    const service = { protocol: "http", listen_port: 80, destination_port: 80, proxyprotocol: false, health_check };
    const balancer = await this.#make("/load_balancers", "load_balancer", {
      name: "front",
      load_balancer_type: "lb11",
      location: "nbg1",
      algorithm: { type: "round_robin" },
      services: [service],
      targets: [{ type: "server", server: { id: server } }],
    });
    await this.#things("load_balancers", balancer);
    const act = this.#actions("load_balancers", balancer);
    const secure = { ...service, protocol: "https", listen_port: 443, http: { certificates: [certificate] } };
    await act("add_service", secure);
    await act("update_service", { listen_port: 80, health_check: { ...health_check, interval: 20 } });
    await this.#well("GET", `/certificates/${certificate}`);
    await act("delete_service", { listen_port: 443 });
    await act("attach_to_network", { network });
    await act("remove_target", { type: "server", server: { id: server } });
    await act("add_target", {
      type: "label_selector",
      label_selector: { selector: "role=walk" },
      use_private_ip: true,
    });
    await act("add_target", { type: "server", server: { id: server }, use_private_ip: true });
    await this.#well("GET", `/load_balancers/${balancer}`);
    await act("disable_public_interface");
    await act("enable_public_interface");
    await act("change_algorithm", { type: "least_connections" });
    await act("change_type", { load_balancer_type: "lb21" });
    const { load_balancer } = (await this.#well("GET", `/load_balancers/${balancer}`)) as unknown as {
      readonly load_balancer: { readonly public_net: { readonly ipv4: { readonly ip: string } } };
    };
    await act("change_dns_ptr", { ip: load_balancer.public_net.ipv4.ip, dns_ptr: "front.example.test" });
    await act("change_protection", { delete: false });
    await act("remove_target", { type: "server", server: { id: server } });
    await act("detach_from_network", { network });
    await this.#well("GET", `/load_balancers/${balancer}/metrics?type=bandwidth&start=${day}&end=${hour}`);
    await this.#actionLists("load_balancers", balancer);
    await this.#well("DELETE", `/load_balancers/${balancer}`);
    await this.#well("DELETE", `/certificates/${certificate}`);
  }

  async certificates(): Promise<number> {
    const { certificate, privateKey } = this.#certificate;
    const uploaded = await this.#make("/certificates", "certificate", {
      name: "uploaded",
      type: "uploaded",
      certificate,
      private_key: privateKey,
    });
    await this.#things("certificates", uploaded);
    const managed = await this.#make("/certificates", "certificate", {
      name: "managed",
      type: "managed",
      domain_names: ["example.test"],
    });
    await this.#well("GET", `/certificates/${managed}`);
    await this.#actionLists("certificates", managed);
    // Only what failed can be tried again; the refusal is an answer of this operation too.
    await this.#ask("POST", `/certificates/${managed}/actions/retry`);
    await this.#well("DELETE", `/certificates/${managed}`);
    return uploaded;
  }

  async zones(): Promise<void> {
    const rrset = { name: "www", type: "A", ttl: 300, records: [{ value: "192.0.2.1", comment: "first" }] };
    const id = await this.#make("/zones", "zone", { name: "example.com", mode: "primary", rrsets: [rrset] });
    await this.#well("GET", "/zones?per_page=2&sort=name:desc&mode=primary");
    await this.#well("GET", "/zones/example.com");
    await this.#well("PUT", `/zones/${id}`, { labels: { role: "walk" } });
    const act = this.#actions("zones", id);
    await act("change_ttl", { ttl: 7200 });
    await act("change_protection", { delete: false });
    const sets = `/zones/${id}/rrsets`;
    await this.#well("POST", sets, { name: "@", type: "TXT", records: [{ value: '"v=spf1 -all"' }] });
    await this.#well("GET", `${sets}?type=A&per_page=100`);
    const www = `${sets}/www/A`;
    await this.#well("GET", www);
    await this.#well("PUT", www, { labels: { a: "b" } });
    const change = (verb: string, body: unknown) => this.#well("POST", `${www}/actions/${verb}`, body);
    await change("add_records", { records: [{ value: "192.0.2.2" }] });
    await change("remove_records", { records: [{ value: "192.0.2.1" }] });
    await change("set_records", { records: [{ value: "192.0.2.3" }] });
    await change("update_records", { records: [{ value: "192.0.2.3", comment: "third" }] });
    await change("change_ttl", { ttl: 600 });
    await change("change_protection", { change: false });
    const { zonefile } = (await this.#well("GET", `/zones/${id}/zonefile`)) as unknown as { readonly zonefile: string };
    await act("import_zonefile", { zonefile });
    await this.#well("DELETE", www);
    await this.#actionLists("zones", id);
    const second = await this.#make("/zones", "zone", {
      name: "example.org",
      mode: "secondary",
      primary_nameservers: [{ address: "198.51.100.1", port: 53 }],
    });
    const servers = { primary_nameservers: [{ address: "198.51.100.2", port: 53 }] };
    await this.#well("POST", `/zones/${second}/actions/change_primary_nameservers`, servers);
    await this.#well("DELETE", `/zones/${second}`);
    await this.#well("DELETE", `/zones/${id}`);
  }

  async ends(server: number, network: number, group: number, key: number): Promise<void> {
    const { action } = await this.#well("DELETE", `/servers/${server}`);
    await this.#well("GET", `/actions/${action?.id ?? 0}`);
    await this.#well("GET", `/actions?id=${action?.id ?? 0}`);
    await this.#well("DELETE", `/placement_groups/${group}`);
    await this.#well("DELETE", `/networks/${network}`);
    await this.#well("DELETE", `/ssh_keys/${key}`);
  }

  async #make(path: string, one: string, body: unknown): Promise<number> {
    const made = await this.#well("POST", path, body);
    return made[one]?.id ?? 0;
  }

  /** List, get and update, as all things have them. */
  async #things(path: string, id: number): Promise<void> {
    await this.#well("GET", `/${path}?per_page=2&page=1&sort=id:desc`);
    await this.#well("GET", `/${path}/${id}`);
    await this.#well("PUT", `/${path}/${id}`, { labels: { role: "walk", "example.com/of": "walk_1" } });
  }

  async #actionLists(path: string, id: number): Promise<void> {
    const listed = await this.#well("GET", `/${path}/${id}/actions?status=success&sort=id:desc`);
    const [first] = listed["actions"] as unknown as readonly { readonly id: number }[];
    await this.#well("GET", `/${path}/${id}/actions/${first?.id ?? 0}`);
    await this.#well("GET", `/${path}/actions?per_page=5`);
    await this.#well("GET", `/${path}/actions/${first?.id ?? 0}`);
  }

  #actions(path: string, id: number): (verb: string, body?: unknown) => Promise<Made> {
    return (verb, body) => this.#well("POST", `/${path}/${id}/actions/${verb}`, body);
  }

  async #well(method: string, path: string, body?: unknown): Promise<Made> {
    const answer = await this.#ask(method, path, body);
    if (answer.status < 300) return (answer.body ?? {}) as Made;
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
}
