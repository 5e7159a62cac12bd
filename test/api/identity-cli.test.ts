import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { runCommand, type Ran } from "../support/cli.ts";
import type { CliWorld } from "../../src/cli/world.ts";
import { fromBase32, totpCode } from "../../src/control-api/identity/totp.ts";
import { startTestApi, type TestApi, token as operator } from "../support/api.ts";
import { goodPassword, newPerson } from "../support/person.ts";

let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), "setpoint-auth-"));
before(async () => {
  api = await startTestApi();
  writeFileSync(join(folder, "operator.token"), `${operator}\n`, { mode: 0o600 });
});
after(async () => {
  rmSync(folder, { recursive: true });
  await api[Symbol.asyncDispose]();
});

const signedInOnly = {
  SETPOINT_URL: "http://test",
  SETPOINT_CONFIG: join(folder, "config"),
  SETPOINT_DATA: join(folder, "none"),
};
const sessions = join(folder, "config", "sessions.json");

function setpoint(args: readonly string[], change: Partial<CliWorld> = {}): Promise<Ran> {
  return runCommand(api.app, args, { environment: signedInOnly, ...change });
}

const typed = (text: string): Partial<CliWorld> => ({ readStdin: () => Promise.resolve(text) });

test("the link of the first start makes the first person, who says who they are", async () => {
  const environment = { ...signedInOnly, SETPOINT_DATA: folder };
  const link = (await setpoint(["auth", "link"], { environment })).data.trim();
  assert.match(link, /#spt_first_/);
  const unsaid = await setpoint(["auth", "login", "--link", link]);
  assert.equal(unsaid.code, 64);
  assert.match(unsaid.notes, /setpoint auth login EMAIL --name NAME --link URL/);
  const words = ["auth", "login", "first@example.test", "--name", "First", "--link", link, "--password-stdin"];
  const weak = await setpoint(words, typed("password1234\n"));
  assert.equal(weak.code, 64, weak.notes);
  const made = await setpoint(words, typed(`${goodPassword}\n`));
  assert.deepEqual([made.code, made.data], [0, "signed in as first@example.test\n"]);
  assert.match((await setpoint(["auth", "status"])).data, /Role here +administrator\n/);
  assert.equal((await setpoint(words, typed(`${goodPassword}\n`))).code, 3, "it works once");
  await setpoint(["auth", "logout"]);
  await newPerson(api, "ada@example.test");
});

test("sign in, look around and sign out; the session is this user's alone", async () => {
  assert.equal((await setpoint(["auth", "status"])).code, 3, "not signed in");
  const wrong = await setpoint(["auth", "login", "ada@example.test", "--password-stdin"], typed("wrong wrong wrong\n"));
  assert.equal(wrong.code, 3);
  assert.equal((await setpoint(["auth", "login", "ada@example.test"])).code, 64, "no terminal, no question");
  const entered = await setpoint(["auth", "login", "ada@example.test", "--password-stdin"], typed(`${goodPassword}\n`));
  assert.deepEqual([entered.code, entered.data], [0, "signed in as ada@example.test\n"]);
  assert.equal(statSync(sessions).mode & 0o777, 0o600);
  assert.ok(!readFileSync(sessions, "utf8").includes(goodPassword));
  assert.match((await setpoint(["auth", "status"])).data, /Name +ada@example\.test\n/);
  assert.match((await setpoint(["doctor"])).data, /signed in as ada@example\.test/);
  const others = (await setpoint(["auth", "sessions", "-o", "name"])).data.trim().split("\n");
  assert.equal(others.length, 2);
  const environment = { ...signedInOnly, SETPOINT_URL: "http://test/elsewhere" };
  assert.equal((await setpoint(["auth", "status"], { environment })).code, 3, "another server gets nothing of it");
  const own = (await setpoint(["auth", "sessions"])).data.split("\n").find((line) => line.includes("(this one)"));
  const other = others.find((id) => own?.startsWith(id) !== true) ?? "";
  assert.equal((await setpoint(["auth", "revoke", other])).code, 0);
  assert.equal((await setpoint(["auth", "revoke", other])).code, 6);
  assert.equal((await setpoint(["auth", "logout"])).data, "signed out\n");
  assert.equal((await setpoint(["auth", "status"])).code, 3);
});

test("codes are set up, asked for and taken on a terminal", async () => {
  const terminal = (answers: readonly string[]): Partial<CliWorld> => {
    const left = [...answers];
    const next = () => Promise.resolve(left.shift() ?? "");
    return { interactive: true, ask: next, askHidden: next };
  };
  await setpoint(["auth", "login"], terminal(["ada@example.test", goodPassword]));
  const { data } = await setpoint(["auth", "totp", "enable"]);
  const secret = fromBase32(/secret=([A-Z2-7]+)/.exec(data)?.[1] ?? "");
  const step = Math.floor(Date.now() / 30_000);
  const confirmed = await setpoint(["auth", "totp", "confirm", totpCode(secret, step)]);
  assert.equal(confirmed.data.trim().split("\n").length, 10);
  await setpoint(["auth", "logout"]);
  const again = await setpoint(
    ["auth", "login"],
    terminal(["ada@example.test", goodPassword, totpCode(secret, step + 1)]),
  );
  assert.equal(again.code, 0, again.notes);
  assert.equal((await setpoint(["auth", "prove", "--password-stdin"], typed(`${goodPassword}\n`))).code, 0);
  const password = await setpoint(
    ["auth", "password", "--password-stdin"],
    typed(`${goodPassword}\nfour green kettles sing\n`),
  );
  assert.equal(password.code, 0, password.notes);
  assert.equal((await setpoint(["auth", "totp", "disable"])).code, 0);
});

test("on the machine itself a link is printed, and it signs in once", async () => {
  const environment = { ...signedInOnly, SETPOINT_DATA: folder };
  assert.equal((await setpoint(["auth", "link"])).code, 3, "without the operator's file there is none");
  const made = await setpoint(["auth", "link", "--person", "ada@example.test"], { environment });
  assert.equal(made.code, 0, made.notes);
  assert.match(made.data, /^http:\/\/127\.0\.0\.1:7780\/sign-in#spt_link_\S+\n$/);
  assert.equal((await setpoint(["auth", "login", "--link", made.data.trim()])).code, 0);
  assert.equal((await setpoint(["auth", "login", "--link", made.data.trim()])).code, 3);
});

test("people are added, given a role, disabled and let in again by whoever may", async () => {
  const environment = { SETPOINT_URL: "http://test", SETPOINT_TOKEN: operator };
  const added = await setpoint(["people", "add", "Grace@example.test", "--name", "Grace"], { environment });
  assert.match(added.data, /^http:\/\/127\.0\.0\.1:7780\/sign-in#spt_reset_\S+\n$/);
  assert.equal((await setpoint(["people", "role", "grace@example.test", "operator"], { environment })).code, 0);
  assert.equal((await setpoint(["people", "disable", "grace@example.test"], { environment })).code, 0);
  assert.match(
    (await setpoint(["people", "list"], { environment })).data,
    /^grace@example\.test +Grace +disabled +operator/m,
  );
  assert.equal((await setpoint(["people", "enable", "grace@example.test"], { environment })).code, 0);
  assert.match((await setpoint(["people", "reset-link", "grace@example.test"], { environment })).data, /#spt_reset_/);
  assert.equal((await setpoint(["people", "disable", "nobody@example.test"], { environment })).code, 6);
  assert.equal((await setpoint(["people", "list"])).code, 3, "not for everybody");
});
