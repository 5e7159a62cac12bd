import type { KindRegistry } from "../../kernel/kind.ts";
import type { Action } from "../../ports/access.ts";

export const everyAction: readonly Action[] = ["read", "create", "update", "delete", "execute"];

/** One permission key: where it is checked, what can be done with it, and which seed roles have it. */
export interface Permission {
  readonly key: string;
  readonly scope: "platform" | "organization" | "project" | "workspace";
  readonly actions: readonly Action[];
  readonly description: string;
  /** Reading it lets somebody in elsewhere: no role has it for being about reading. */
  readonly sensitive: boolean;
  /** What the seed roles may do with it. The owner may do everything. */
  readonly roles: Readonly<Record<GrantedRole, readonly Action[]>>;
}

export type GrantedRole = "admin" | "member" | "auditor" | "billing" | "operator";
export type PermissionCatalogue = ReadonlyMap<string, Permission>;

/** Actions by their first letters, in the order of `everyAction`; `x` is execute. */
type Letters = string;
const letterOf: Readonly<Record<Action, string>> = { read: "r", create: "c", update: "u", delete: "d", execute: "x" };

/** Of the roles: admin (its default is everything the key has), member, auditor, billing, and operator of the platform. */
interface Line {
  readonly actions: Letters;
  readonly about: string;
  readonly admin?: Letters;
  readonly member?: Letters;
  readonly auditor?: Letters;
  readonly billing?: Letters;
  readonly operator?: Letters;
  readonly sensitive?: boolean;
}

/** What an infrastructure key usually gives: members work with it, auditors look at it. */
function ordinary(actions: Letters, about: string): Line {
  return { actions, about, member: actions, auditor: "r" };
}

/** What belongs to those who run the organization; members and auditors may look. */
function governed(actions: Letters, about: string): Line {
  return { actions, about, member: "r", auditor: "r" };
}

const organization: Readonly<Record<string, Line>> = {
  organization: {
    actions: "rud",
    about: "The organization itself",
    admin: "ru",
    member: "r",
    auditor: "r",
    billing: "r",
  },
  "organization.account": governed("rcudx", "Accounts: one credential's world at a provider each"),
  "organization.audit": { actions: "rx", about: "The audit trail, and its export", auditor: "rx" },
  "organization.authentication_provider": {
    actions: "rcud",
    about: "Where the organization's people sign in",
    auditor: "r",
  },
  "organization.billing": {
    actions: "ru",
    about: "Costs, limits and invoices",
    admin: "r",
    auditor: "r",
    billing: "ru",
  },
  "organization.bundle": ordinary("rcudx", "Bundles: the organization's own software"),
  "organization.bundle.deployment": ordinary("rcudx", "Deployments of bundles"),
  "organization.bundle.environment": ordinary("rcud", "Environments that bundles are deployed to"),
  "organization.bundle.image": ordinary("rcd", "Images that were built"),
  "organization.bundle.manifest": ordinary("rcud", "Manifests of bundles"),
  "organization.bundle.repository": ordinary("rcudx", "Repositories that bundles come from"),
  "organization.bundle.revision": ordinary("rcd", "Revisions of bundles"),
  "organization.compute_profile": ordinary("rcudx", "Server types of clouds, with price and availability"),
  "organization.compute_provider": ordinary("rcudx", "Accounts of clouds that are watched"),
  "organization.token": { actions: "rcd", about: "Tokens of services and assistants", auditor: "r" },
  "organization.dns_record": ordinary("rcudx", "DNS records of the organization"),
  "organization.dns_record_zone": ordinary("rcudx", "DNS zones of the organization"),
  "organization.domain": governed("rcudx", "Domains that the organization owns"),
  "organization.firewall": ordinary("rcudx", "Firewalls of the organization"),
  "organization.firewall.rule": ordinary("rcud", "Rules of the organization's firewalls"),
  "organization.held_change": {
    actions: "rx",
    about: "What waits for a person's decision, and deciding it",
    member: "r",
    auditor: "r",
  },
  "organization.membership": {
    actions: "rud",
    about: "Who belongs to the organization, and their roles",
    member: "r",
    auditor: "r",
  },
  "organization.membership_invite": { actions: "rcd", about: "Invites", auditor: "r" },
  "organization.monitoring_source": ordinary("rcudx", "Where probes look from"),
  "organization.network": ordinary("rcudx", "Networks"),
  "organization.network_bridge": ordinary("rcudx", "Bridges between networks"),
  "organization.notification_channel": governed("rcudx", "Where people are told: webhooks and e-mail"),
  "organization.operation": ordinary("rx", "Operations: what long work does and waits for; execute steers it"),
  "organization.pause": {
    actions: "rcd",
    about: "Pauses: anybody may stop, few may resume",
    member: "rc",
    auditor: "r",
  },
  "organization.payment_method": { actions: "rcud", about: "How the organization pays", admin: "", billing: "rcud" },
  "organization.policy": governed("ru", "Modes, limits, protection and four eyes"),
  "organization.project": governed("rcd", "Projects"),
  "organization.proposal": {
    actions: "rcudx",
    about: "Proposed sets of changes; execute decides them",
    member: "rcud",
    auditor: "r",
  },
  "organization.quota": {
    actions: "ru",
    about: "How much there may be",
    admin: "r",
    member: "r",
    auditor: "r",
    billing: "r",
  },
  "organization.role": { actions: "rcud", about: "Roles of the organization's own", member: "r", auditor: "r" },
  "organization.secret": { actions: "rcudx", about: "Secrets; their values are never shown", auditor: "r" },
};

const project: Readonly<Record<string, Line>> = {
  "project.certificate": ordinary("rcudx", "Certificates"),
  "project.cloud_network": ordinary("rcudx", "Private networks of clouds"),
  "project.dns_record": ordinary("rcudx", "DNS records"),
  "project.dns_zone": ordinary("rcudx", "DNS zones"),
  "project.git_source": ordinary("rcudx", "Repositories that say what is wanted"),
  "project.load_balancer": ordinary("rcudx", "Load balancers of a project"),
  "project.load_balancer.service": ordinary("rcud", "Services of a project's load balancers"),
  "project.load_balancer.target": ordinary("rcud", "Targets of a project's load balancers"),
  "project.monitoring_alert": ordinary("rux", "Alerts"),
  "project.monitoring_object": ordinary("rcudx", "Probes and their conditions"),
  "project.object_store": ordinary("rcudx", "Object stores"),
  "project.object_store.credentials": { actions: "rcd", about: "Keys to object stores", sensitive: true },
  "project.object_store.policy": ordinary("ru", "Who may do what with an object store"),
};

const workspace: Readonly<Record<string, Line>> = {
  "project.workspace": { actions: "rcudx", about: "Workspaces", member: "rcudx", auditor: "r" },
  "project.workspace.agent": ordinary("rudx", "Agents on hosts"),
  "project.workspace.agent_token": { actions: "rcd", about: "Tokens that let a machine join", auditor: "r" },
  "project.workspace.catalog_deployment": ordinary("rcudx", "Platform software in a workspace"),
  "project.workspace.dns_zone": ordinary("rcudx", "DNS zones of a workspace"),
  "project.workspace.firewall": ordinary("rcudx", "Firewalls of a workspace"),
  "project.workspace.firewall.rule": ordinary("rcud", "Rules of a workspace's firewalls"),
  "project.workspace.host": ordinary("rcudx", "Hosts"),
  "project.workspace.host.firewall": ordinary("rcudx", "Firewalls of one host"),
  "project.workspace.host.power": { actions: "x", about: "Switching hosts on and off", member: "x" },
  "project.workspace.host.shell_session": { actions: "rcx", about: "A shell on a host", sensitive: true },
  "project.workspace.key": {
    actions: "rcd",
    about: "Keys with which a workspace speaks to the platform",
    auditor: "r",
  },
  "project.workspace.kubernetes.kubeconf": { actions: "r", about: "The administrator's kubeconfig", sensitive: true },
  "project.workspace.kubernetes.proxy": ordinary("rx", "The Kubernetes API through the platform"),
  "project.workspace.kubernetes.secret": { actions: "rcud", about: "Kubernetes secrets", sensitive: true },
  "project.workspace.load_balancer": ordinary("rcudx", "Load balancers of a workspace"),
  "project.workspace.load_balancer.service": ordinary("rcud", "Services of a workspace's load balancers"),
  "project.workspace.load_balancer.target": ordinary("rcud", "Targets of a workspace's load balancers"),
  "project.workspace.monitoring_object": ordinary("rcudx", "Probes of a workspace"),
  "project.workspace.scaling_group": ordinary("rcudx", "Scaling groups; execute scales"),
};

const platform: Readonly<Record<string, Line>> = {
  "platform.audit": { actions: "rx", about: "The audit trail of the whole platform", operator: "r" },
  "platform.backup": { actions: "rcx", about: "Backups" },
  "platform.freeze": { actions: "rcd", about: "The freeze: stopping all writes, and ending that", operator: "rcd" },
  "platform.key": { actions: "rux", about: "The keys secrets are sealed with, and their rotation" },
  "platform.loop": { actions: "rx", about: "The registry of loops", operator: "rx" },
  "platform.membership": {
    actions: "rux",
    about: "Who is operator or administrator here, and memberships after a restore",
    operator: "r",
  },
  "platform.notification_channel": {
    actions: "rcudx",
    about: "Where the platform's people are told",
    operator: "rcudx",
  },
  "platform.organization": {
    actions: "rcudx",
    about: "Organizations: creating, verifying, blocking",
    operator: "rcux",
  },
  "platform.person": { actions: "rcudx", about: "People, their state and their sessions", operator: "r" },
  "platform.policy": { actions: "ru", about: "What holds for everybody", operator: "r" },
  "platform.pool": {
    actions: "rcdx",
    about: "The pool of accounts that organizations may claim; execute puts one back",
    operator: "rdx",
  },
  "platform.quota": { actions: "ru", about: "Quotas of organizations", operator: "ru" },
  "platform.summary": { actions: "r", about: "Figures of the whole platform", operator: "r" },
};

/** Every permission key there is: those of the platform, and those that the installed kinds bring. */
export function permissionCatalogue(kinds: KindRegistry): PermissionCatalogue {
  const groups = { platform, organization, project, workspace };
  const found = new Map<string, Permission>();
  for (const [scope, lines] of Object.entries(groups) as [Permission["scope"], Readonly<Record<string, Line>>][]) {
    for (const [key, line] of Object.entries(lines)) found.set(key, permission(key, scope, line));
  }
  for (const kind of kinds.values()) {
    const scope = kind.permission.startsWith("project.workspace.") ? "workspace" : "project";
    if (!found.has(kind.permission))
      found.set(kind.permission, permission(kind.permission, scope, ordinary("rcudx", `${kind.kind} resources`)));
  }
  return new Map([...found].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function permission(key: string, scope: Permission["scope"], line: Line): Permission {
  const { member = "", auditor = "", billing = "", operator = "" } = line;
  const admin = scope === "platform" ? "" : (line.admin ?? line.actions);
  return {
    key,
    scope,
    actions: actionsOf(line.actions),
    description: line.about,
    sensitive: line.sensitive === true,
    roles: {
      admin: actionsOf(admin),
      member: actionsOf(member),
      auditor: actionsOf(auditor),
      billing: actionsOf(billing),
      operator: actionsOf(operator),
    },
  };
}

function actionsOf(text: Letters): readonly Action[] {
  return everyAction.filter((action) => text.includes(letterOf[action]));
}
