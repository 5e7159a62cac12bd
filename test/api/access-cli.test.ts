import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { type Ran, runCommand } from "../support/cli.ts";
import { signedIn, type TestPerson } from "../support/people.ts";

let api: TestApi;
let owner: TestPerson;
let ada: TestPerson;
before(async () => {
  api = await startTestApi({ verifyOrganizations: true });
  [owner, ada] = [await signedIn(api, "owner@acme.test"), await signedIn(api, "ada@acme.test")];
});
after(() => api[Symbol.asyncDispose]());

/** Runs a command line as somebody; words are parted by single spaces. */
function as(person: TestPerson | undefined, line: string): Promise<Ran> {
  const environment = {
    SETPOINT_ORGANIZATION: "acme",
    ...(person === undefined ? {} : { SETPOINT_TOKEN: person.token }),
  };
  return runCommand(api.app, line.split(" "), person === undefined ? {} : { environment });
}

test("an organization is made, submitted, verified and used from the terminal", async () => {
  const made = await as(owner, "org create acme");
  assert.equal(made.data, "organization/acme created\n");
  assert.match(made.notes, /setpoint org submit acme/);
  assert.equal((await as(owner, "project create web")).code, 5, "refused by the organization's status");
  assert.equal((await as(owner, "org submit acme")).data, "organization/acme is pending\n");
  assert.equal((await as(owner, "org verify acme --reason me")).code, 3);
  assert.equal(
    (await as(undefined, "org verify acme --reason known")).data,
    "organization/acme is verified and active\n",
  );
  assert.match(
    (await as(owner, "org list")).data,
    /^NAME +VERIFICATION +STATE +REASON\nacme +verified +active +known\n$/,
  );
  assert.equal((await as(owner, "project create web")).data, "project/web created\n");
  assert.equal((await as(owner, "workspace create live -p web")).data, "workspace/live created\n");
  assert.equal((await as(owner, "workspace list -p web -o name")).data, "workspace/live\n");
  assert.match((await as(owner, "project delete web")).notes, /workspace live/);
});

test("somebody is invited, asks what they may do, and loses it again", async () => {
  const invited = await as(owner, "invite create ada@acme.test --role member --project web");
  assert.match(invited.data, /^http:\/\/127\.0\.0\.1:7780\/invite#spt_inv_\S+\n$/);
  assert.equal((await as(ada, `invite accept ${invited.data.trim()}`)).data, "you belong to acme\n");
  assert.match((await as(owner, "member list")).data, /^ada@acme\.test +member in web$/m);
  const yes = await as(ada, "can-i create project.dns_zone --project web");
  assert.deepEqual([yes.code, yes.data], [0, "yes\n"]);
  assert.match(yes.notes, /role member at project\/acme:web/);
  assert.equal((await as(ada, "can-i create dnszone --project web")).data, "yes\n", "a kind means its key");
  assert.match((await as(ada, "can-i create dnszome --project web")).notes, /There is no kind "dnszome". Kinds: /);
  const no = await as(ada, "can-i create organization.account");
  assert.deepEqual([no.code, no.data], [3, "no\n"]);
  assert.equal((await as(owner, "can-i read project.dns_zone --project web --as ada@acme.test")).data, "yes\n");
  assert.equal((await as(owner, "member revoke ada@acme.test member --project web")).code, 0);
  assert.equal((await as(ada, "can-i create project.dns_zone --project web")).code, 6, "not even seen any more");
  assert.match((await as(owner, "invite list")).data, /ada@acme\.test +accepted/);
});

test("a role is made, given, refused its end while somebody has it, and shown", async () => {
  const made = await as(owner, "role create deployer --allow project.dns_zone=read,update --description deploys");
  assert.equal(made.data, "role/deployer created\n");
  assert.equal((await as(owner, "member grant ada@acme.test deployer")).code, 0);
  assert.equal((await as(owner, "role delete deployer")).code, 12);
  assert.match((await as(owner, "role get deployer")).data, /^project\.dns_zone +read, update$/m);
  assert.match((await as(owner, "role list")).data, /^owner +Setpoint's +everything/m);
  assert.equal((await as(owner, "role update deployer --allow project.dns_zone=read")).data, "role/deployer updated\n");
  assert.equal((await as(owner, "member remove ada@acme.test")).code, 0);
  assert.equal((await as(owner, "role delete deployer")).data, "role/deployer deleted\n");
  assert.equal((await as(owner, "role create bad --allow nonsense")).code, 64);
});

test("whoever runs the platform ends a freeze without reading a tenant, and is shown every organization it holds", async () => {
  const operator = await signedIn(api, "operator@acme.test");
  assert.equal((await as(undefined, "people role operator@acme.test operator")).code, 0);
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  assert.equal((await api.send("POST", "/v1/organizations/default/accounts", account)).status, 201);
  const zone = {
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name: "frozen", mode: "observe" },
    spec: { account: "lab", zone: "frozen.test" },
  };
  assert.equal((await api.send("POST", "/v1/organizations/default/dnszones", zone)).status, 201);
  assert.equal((await as(operator, "freeze --reason incident")).code, 0);
  const thawed = await as(operator, "unfreeze --yes");
  assert.equal(thawed.code, 0, thawed.notes);
  assert.match(thawed.notes, /would end: freeze of writes by operator@acme\.test: incident\n/);
  assert.match(thawed.notes, /in default: 0 with something left to do, 1 due for a look\n/);
  assert.doesNotMatch(
    thawed.notes,
    /frozen|Nothing would be written/,
    "neither a tenant's names nor a false all-clear",
  );
});
