import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import { commandFacts } from "../../src/cli/command-facts.ts";
import { leavesOf } from "../../src/cli/help.ts";
import { formats } from "../../src/cli/output.ts";
import { createProgram } from "../../src/cli/program.ts";
import type { CliWorld } from "../../src/cli/world.ts";
import { startTestApi, type TestApi, token } from "../support/api.ts";
import { type Ran, runCommand } from "../support/cli.ts";

let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), "setpoint-surface-"));
const zone = `apiVersion: setpoint/v1
kind: DnsZone
metadata: { name: example, mode: observe }
spec: { account: lab, zone: example.test }
`;
before(async () => {
  api = await startTestApi();
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  await api.send("POST", "/v1/organizations/default/accounts", account);
  await api.send("POST", "/v1/organizations/default/projects", { name: "web" });
  assert.equal((await setpoint(["apply", "-f", "-"], { readStdin: () => Promise.resolve(zone) })).code, 0);
  await api.seal();
});
after(async () => {
  rmSync(folder, { recursive: true });
  await api[Symbol.asyncDispose]();
});

function setpoint(args: readonly string[], change: Partial<CliWorld> = {}): Promise<Ran> {
  const environment = { SETPOINT_TOKEN: token, SETPOINT_URL: "http://test", SETPOINT_CONFIG: folder };
  return runCommand(api.app, args, { environment, ...change });
}

const program = () =>
  createProgram({ environment: {}, writeData: () => {}, writeNote: () => {} } as unknown as CliWorld, "0.0.0-test");

test("every command has an example that it understands, and no other has facts", async () => {
  const leaves = leavesOf(program());
  assert.ok(leaves.length > 100);
  assert.deepEqual(leaves.map(({ words }) => words).toSorted(), Object.keys(commandFacts).toSorted());
  for (const [words, { examples }] of Object.entries(commandFacts)) {
    assert.ok(examples.length > 0, words);
    for (const example of examples) {
      const fresh = program();
      let ran = "";
      for (const leaf of leavesOf(fresh)) leaf.command.action(() => void (ran = leaf.words));
      await fresh.parseAsync(wordsOf(example), { from: "user" }).catch((thrown: unknown) => {
        throw new Error(example, { cause: thrown });
      });
      assert.equal(ran, words, example);
    }
  }
});

/** The words of the command in an example, as a shell would hand them over. */
function wordsOf(example: string): readonly string[] {
  const command = /\bsetpoint (?!=)(.*?)(?: [<>] .*|\))?$/.exec(example.replace(/^[A-Z_]+=\S+ (?:[A-Z_]+=\S+ )*/, ""));
  return [...(command?.[1] ?? "").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
}

test("help says what each command takes; whatever prints records takes every format, and whatever changes something a reason", async () => {
  for (const { words, command } of leavesOf(program())) {
    const { code, data } = await setpoint([...words.split(" "), "--help"]);
    assert.equal(code, 0, words);
    assert.match(data, /Examples?:\n {2}\S/, words);
    assert.equal(/--reason <text>/.test(data), commandFacts[words]?.changes, words);
    const output = command.options.find(({ long }) => long === "--output");
    if (output !== undefined) for (const format of formats) assert.match(output.description, new RegExp(format), words);
  }
  const unknown = await setpoint(["get", "dnszone", "--colour"]);
  assert.equal(unknown.code, 64);
  assert.match(unknown.notes, /unknown option '--colour'[^]*add --help/);
});

const readers = [
  ["loops"],
  ["status"],
  ["why", "dnszone/example"],
  ["describe", "dnszone/example"],
  ["tree", "dnszone/example"],
  ["events", "dnszone/example"],
  ["history", "dnszone/example"],
  ["explain", "dnszone"],
  ["plan", "dnszone/example"],
  ["drift"],
  ["plans", "list"],
  ["held", "list"],
  ["pause", "list"],
  ["account", "list"],
  ["policy", "organization"],
  ["limits"],
  ["policy-history"],
  ["quota", "list"],
  ["org", "list"],
  ["org", "get", "default"],
  ["project", "list"],
  ["member", "list"],
  ["role", "list"],
  ["role", "get", "member"],
  ["invite", "list"],
  ["can-i", "read", "project.dns_zone"],
  ["people", "list"],
  ["auth", "status"],
  ["token", "list", "--type", "service"],
  ["secret", "list"],
  ["webhook", "list"],
  ["notification", "list"],
  ["notification", "emails"],
  ["audit", "list"],
  ["context", "list"],
  ["get", "dnszone"],
  ["export"],
];

test("every command that prints records prints them in every format", async () => {
  for (const args of readers) {
    const printed = new Map<string, string>();
    for (const format of formats) {
      const { code, data, notes } = await setpoint([...args, "-o", format]);
      assert.equal(code, 0, `${args.join(" ")} -o ${format}: ${notes}`);
      printed.set(format, data);
    }
    const about = args.join(" ");
    assert.ok(typeof JSON.parse(printed.get("json") ?? "") === "object", about);
    assert.ok(
      parseAllDocuments(printed.get("yaml") ?? "").every(({ errors }) => errors.length === 0),
      about,
    );
    for (const line of (printed.get("ndjson") ?? "").split("\n").slice(0, -1))
      assert.ok(typeof JSON.parse(line) === "object", `${about}: ${line}`);
    assert.notEqual(printed.get("name"), printed.get("json"), about);
  }
});

test("a list goes on with -w and prints what comes, changes and goes", async () => {
  const path = "/v1/organizations/default/projects";
  let round = 0;
  const sleep = async () => {
    round++;
    if (round === 1) await api.send("POST", path, { name: "passing" });
    if (round === 2) await api.send("DELETE", `${path}/passing`);
  };
  const timer = () =>
    ({
      get aborted() {
        return round >= 3;
      },
    }) as AbortSignal; // prettier-ignore
  const watched = await setpoint(["project", "list", "-w", "-o", "ndjson"], { sleep, timer });
  assert.equal(watched.code, 0, watched.notes);
  const lines = watched.data
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; name?: string });
  assert.deepEqual(
    lines.map(({ type }) => type),
    ["ADDED", "ADDED", "DELETED"],
  );
  assert.equal(lines.at(-1)?.name, "project/passing");
});

test("a reason given to any command stands in the audit trail, in any script", async () => {
  const reason = "wegen Ümzug — переезд";
  assert.equal((await setpoint(["project", "create", "moving", "--reason", reason])).code, 0);
  assert.equal((await setpoint(["project", "delete", "moving", "--reason", "line\nbreak"])).code, 0);
  await api.seal();
  const { items } = JSON.parse((await setpoint(["audit", "list", "-o", "json"])).data) as {
    readonly items: readonly { readonly type: string; readonly reason?: string }[];
  };
  assert.deepEqual(
    items.slice(0, 2).map((item) => item.reason),
    ["line break", reason],
  );
});

test("names are completed live: targets, scopes, ids, words of options", async () => {
  await api.send("POST", "/v1/organizations", { name: "acme" });
  const pause = { on: "organization", level: "deletes", reason: "for the test", forSeconds: 60 };
  const { id } = (await api.send("POST", "/v1/organizations/default/pauses", pause)).body as { id: string };
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["ge"], ["get"]],
    [["held", ""], ["help", "list", "show"].filter((word) => word !== "help")],
    [["get", "dnsz"], ["dnszone"]],
    [["why", "dnsz"], ["dnszone/"]],
    [["why", "dnszone/"], ["dnszone/example"]],
    [["get", "dnszone", ""], ["example"]],
    [["get", "dnszone", "-o", "nd"], ["ndjson"]],
    [["get", "-O", "acme", "dnszone/"], []],
    [
      ["get", "-O", ""],
      ["acme", "default"],
    ],
    [["mode", "dnszone/example", "en"], ["enforce"]],
    [["org", "get", "a"], ["acme"]],
    [["project", "delete", ""], ["web"]],
    [["resume", ""], [id]],
    [["role", "get", "own"], ["owner"]],
    [["can-i", "read", "project.dns_z"], ["project.dns_zone"]],
    [["can-i", "read", "dnsz"], ["dnszone"]],
    [["completion", "f"], ["fish"]],
    [["wait", "dnszone/example", "--for", "S"], ["Synced"]],
    [["secret", "set-credential", ""], ["lab"]],
    [["apply", "-f", ""], []],
    [["get", "nothing/"], []],
  ];
  for (const [words, expected] of cases) {
    const { data } = await setpoint(["__complete", "--", ...words]);
    assert.deepEqual(data.split("\n").slice(0, -1), expected, words.join(" "));
  }
  await api.send("DELETE", `/v1/organizations/default/pauses/${id}`);
});

test("bash takes the words that the command prints, without a space behind a slash", async () => {
  const script = (await setpoint(["completion", "bash"])).data;
  const block = `setpoint() { printf '%s\\n' "dnszone/"; printf '%s\\n' "$*" >&2; }
compopt() { echo compopt "$@"; }
${script}
COMP_WORDS=(setpoint why dns); COMP_CWORD=2; _setpoint; echo "\${COMPREPLY[*]}"`;
  const { stdout } = await promisify(execFile)("bash", ["-c", block]);
  assert.deepEqual(stdout.trim().split("\n"), ["compopt -o nospace", "dnszone/"]);
});

test("what a context names holds for every command that has a scope", async () => {
  assert.equal((await setpoint(["context", "set", "here", "-O", "default", "-p", "web"])).code, 0);
  const record = zone.replace("mode: observe", "mode: propose").replace("name: example,", "name: below,");
  const stdin = { readStdin: () => Promise.resolve(record) };
  const proposed = await setpoint(["plans", "propose", "-f", "-", "--reason", "in the project"], stdin);
  assert.equal(proposed.code, 0, proposed.notes);
  const shown = await setpoint(["plans", "show", proposed.data.trim(), "-o", "json"]);
  assert.equal((JSON.parse(shown.data) as { changes: { project?: string }[] }).changes[0]?.project, "web");
  assert.equal((await setpoint(["policy", "project"])).code, 0);
  assert.equal((await setpoint(["workspace", "create", "prod"])).code, 0);
  assert.equal((await setpoint(["workspace", "list", "-p", "web", "-o", "name"])).data, "workspace/prod\n");
  const explained = await setpoint(["can-i", "read", "project.dns_zone", "-o", "json"]);
  assert.match(explained.data, /"project": "web"|allowed/);
  assert.equal((await setpoint(["context", "delete", "here"])).code, 0);
});

test("delete and apply ask on a terminal, and --yes answers; where nobody can be asked nobody is", async () => {
  const asked: string[] = [];
  const terminal = {
    interactive: true,
    ask: (question: string) => {
      asked.push(question);
      return Promise.resolve("no");
    },
  };
  const no = await setpoint(["delete", "dnszone/example"], terminal);
  assert.equal(no.code, 8, no.notes);
  assert.match(asked.join(""), /Delete dnszone\/example and 0 things outside\? \[y\/N\]/);
  assert.equal(
    (await api.send("GET", "/v1/organizations/default/dnszones/example")).body["metadata"] === undefined,
    false,
  );
  await setpoint(["apply", "-f", "-"], {
    readStdin: () =>
      Promise.resolve(zone.replace("name: example,", "name: gone,").replace("example.test", "gone.test")),
  });
  assert.equal(
    (
      await setpoint(["delete", "dnszone/gone", "--yes"], {
        ...terminal,
        ask: () => Promise.reject(new Error("asked")),
      })
    ).code,
    0,
  );
});

test("webhooks, limits and quotas from the command line", async () => {
  const made = await setpoint(["webhook", "create", "https://hooks.example.test/a", "--event", "freeze.started"]);
  assert.equal(made.code, 0, made.notes);
  assert.match(made.data, /^whsec_/);
  const [id = ""] = (await setpoint(["webhook", "list", "-o", "name"])).data.trim().replace("webhook/", "").split("\n");
  assert.match((await setpoint(["webhook", "show", id])).data, /events +freeze\.started/);
  const delivery = (await setpoint(["webhook", "test", id])).data.trim();
  assert.match((await setpoint(["webhook", "deliveries", id])).data, new RegExp(`${delivery} +\\S+ +pending`));
  assert.equal((await setpoint(["webhook", "replay", id, delivery])).code, 0);
  assert.equal((await setpoint(["webhook", "disable", id])).data, `webhook/${id} disabled\n`);
  assert.match((await setpoint(["webhook", "list"])).data, /disabled +https:\/\/hooks/);
  const rotated = await setpoint(["webhook", "rotate", id]);
  assert.match(rotated.data, /^whsec_/);
  assert.notEqual(rotated.data, made.data);
  assert.equal((await setpoint(["webhook", "delete", id])).code, 0);
  assert.equal((await setpoint(["webhook", "show", id])).code, 6);

  assert.equal((await setpoint(["quota", "set", "dnszone", "7"])).data, "quota/DnsZone set to 7\n");
  assert.match((await setpoint(["quota", "list"])).data, /DnsZone +\d+ +7 +the organization/);
  assert.equal((await setpoint(["quota", "set", "dnszone", "none"])).code, 0);
  assert.equal((await setpoint(["quota", "set", "dnszone", "many"])).code, 64);

  assert.match((await setpoint(["limits"])).data, /changesPerCycle +50/);
  assert.equal((await setpoint(["mode", "organization", "propose", "--reason", "carefully"])).code, 0);
  assert.match((await setpoint(["limits"])).data, /mode +propose +organization/);
  const history = await setpoint(["policy-history", "organization", "-o", "yaml"]);
  assert.match(JSON.stringify(parse(history.data)), /"mode":"propose"/);
  const emails = await setpoint(["notification", "emails", "ops@example.test"]);
  assert.equal(emails.data, "ops@example.test\n");
  assert.match(emails.notes, /nothing is mailed/);
  assert.equal((await setpoint(["notification", "emails", "--none", "-o", "json"])).code, 0);
});

test("an export comes bit by bit; one that breaks off leaves what was there", async () => {
  const file = join(folder, "audit.ndjson");
  writeFileSync(file, "the export of yesterday\n");
  const broken: Partial<CliWorld> = {
    stream: () =>
      Promise.resolve({
        status: 200,
        headers: {},
        chunks: (async function* () {
          yield '{"setpoint":"audit-export"';
          throw new TypeError("terminated");
        })(),
      }),
  };
  const failed = await setpoint(["audit", "export", "-f", file], broken);
  assert.equal(failed.code, 1);
  assert.equal(readFileSync(file, "utf8"), "the export of yesterday\n");
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("audit")),
    ["audit.ndjson"],
  );
  assert.equal((await setpoint(["audit", "export"], broken)).code, 1, "and on the standard output it is a failure too");

  assert.equal((await setpoint(["audit", "export", "-f", file])).code, 0);
  assert.match((await setpoint(["audit", "verify", file])).data, /^whole: \d+ entries/);
  writeFileSync(file, readFileSync(file, "utf8").replace('"default"', '"defaulu"'));
  assert.equal((await setpoint(["audit", "verify", file])).code, 4);
  assert.equal((await setpoint(["audit", "export", "-f", join(folder, "none", "audit.ndjson")])).code, 64);
});

test("explain says what every field of a manifest's metadata means", async () => {
  const { data } = await setpoint(["explain", "dnszone.metadata", "-o", "json"]);
  const { properties } = JSON.parse(data) as { readonly properties: Record<string, { readonly description?: string }> };
  assert.deepEqual(Object.keys(properties), ["name", "labels", "mode", "protect"]);
  for (const [name, field] of Object.entries(properties)) assert.ok((field.description ?? "") !== "", name);
  assert.match((await setpoint(["explain", "dnszone"])).data, /metadata +object +yes +What it is called/);
});
