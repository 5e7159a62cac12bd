import type { Command } from "commander";
import {
  linkSchema,
  meSchema,
  recoveryCodesSchema,
  sessionListSchema,
  signedInSchema,
  totpSchema,
} from "../../control-api/schemas/identity.ts";
import { type ApiClient, operatorToken } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { table } from "../output.ts";
import { type OutputOptions, type RecordOptions, showOne, showRecords, withOutput, withRecords } from "../records.ts";
import { secretInput, secretLines } from "../secret-input.ts";
import { forgetSession, storedSession, storeSession } from "../session-file.ts";
import type { CliWorld } from "../world.ts";

interface FromStdin {
  readonly passwordStdin?: boolean;
}

interface SignInOptions extends FromStdin {
  readonly code?: string;
  readonly link?: string;
  readonly name?: string;
}

/** auth: who you are, where you are signed in, and how you prove it. */
export function registerAuth(program: Command, world: CliWorld, client: ApiClient): void {
  const auth = program.command("auth").description("sign in and out, and how you prove that it is you");
  registerSigningIn(auth, world, client);
  registerSessions(auth, world, client);
  registerProofs(auth, world, client);
  registerTotp(auth, world, client);
}

function registerSigningIn(auth: Command, world: CliWorld, client: ApiClient): void {
  auth
    .command("login")
    .description("sign in; the session is kept for this user of the machine alone")
    .argument("[email]")
    .option("--password-stdin", "the first line of standard input is the password")
    .option("--code <code>", "six digits of your app, or a recovery code")
    .option("--link <url>", "a one-time link instead of a password; that of the first start makes you the first person")
    .option("--name <name>", "with the link of the first start: what you are called")
    .action(async (email: string | undefined, options: SignInOptions) => {
      const signed =
        options.link === undefined
          ? await byPassword(world, client, email, options)
          : await byLink(world, client, options.link, { ...options, email });
      const { token, person } = signedInSchema.parse(signed);
      if (token === undefined || person === undefined) throw new CliError("The server opened no session");
      const file = storeSession(world, client.url, { token, email: person.email });
      world.writeData(`signed in as ${person.email}\n`);
      world.writeNote(`the session is kept in ${file}; end it with: setpoint auth logout\n`);
    });
  auth
    .command("logout")
    .description("end the session of this machine")
    .action(async () => {
      const known = storedSession(world, client.url);
      if (known === undefined) throw new CliError(`You are not signed in at ${client.url}`, exitCodes.notAllowed);
      // Forgotten here in any case: a server that cannot be reached must not keep anybody signed in.
      forgetSession(world, client.url);
      const headers = { authorization: `Bearer ${known.token}` };
      const answer = await client.plain("DELETE", "/v1/session", { headers });
      if (answer.status !== 204 && answer.status !== 401)
        throw new CliError(
          `The session is forgotten here, and the server answered with ${answer.status} when it was to end it`,
        );
      world.writeData("signed out\n");
    });
  auth
    .command("link")
    .description("a one-time link to sign in with, made with the operator's file of this machine")
    .option("--person <email>", "whose; without it the only administrator's, or that of the first person")
    .action(async (options: { readonly person?: string }) => {
      const body = options.person === undefined ? {} : { email: options.person };
      const token = operatorToken(world);
      if (token === undefined)
        throw new CliError(
          "The operator's file is not here: run this on the machine that Setpoint runs on, with its SETPOINT_DATA",
          exitCodes.notAllowed,
        );
      const answer = await client.send("POST", "/v1/sign-in-links", {
        body,
        headers: { authorization: `Bearer ${token}` },
      });
      const { url, expiresAt } = linkSchema.parse(answer.body);
      world.writeData(`${url ?? ""}\n`);
      world.writeNote(`it works once, until ${expiresAt}\n`);
    });
}

async function byPassword(
  world: CliWorld,
  client: ApiClient,
  given: string | undefined,
  options: FromStdin & { readonly code?: string },
): Promise<unknown> {
  if (given === undefined && !world.interactive) throw usageError("say who you are: setpoint auth login EMAIL");
  const email = given ?? (await world.ask("E-mail: "));
  const password = await secretInput(world, "Password: ", options.passwordStdin === true);
  const signIn = async (code: string | undefined) =>
    (
      await client.open("POST", "/v1/session", {
        email,
        password,
        as: "token",
        ...(code === undefined ? {} : { code }),
      })
    ).body;
  const first = await signIn(options.code);
  if (signedInSchema.parse(first).secondFactor !== "required") return first;
  if (!world.interactive) throw usageError("a code is needed as well: --code");
  return await signIn(await world.ask("Code of your app, or a recovery code: "));
}

async function byLink(
  world: CliWorld,
  client: ApiClient,
  link: string,
  who: SignInOptions & { readonly email: string | undefined },
): Promise<unknown> {
  const token = link.includes("#") ? link.slice(link.indexOf("#") + 1) : link;
  const person = token.startsWith("spt_first_") ? { person: await firstPerson(world, who) } : {};
  return (await client.open("POST", "/v1/session/link", { token, as: "token", ...person })).body;
}

/** Whoever has the link of the first start says who they are, and becomes the administrator. */
async function firstPerson(
  world: CliWorld,
  who: SignInOptions & { readonly email: string | undefined },
): Promise<{ readonly email: string; readonly name: string; readonly password: string }> {
  if (!world.interactive && (who.email === undefined || who.name === undefined))
    throw usageError(
      "this link makes the first person: say who you are with setpoint auth login EMAIL --name NAME --link URL, or open it in a browser",
    );
  const email = who.email ?? (await world.ask("E-mail: "));
  const name = who.name ?? (await world.ask("Name: "));
  return { email, name, password: await secretInput(world, "New password: ", who.passwordStdin === true) };
}

function registerSessions(auth: Command, world: CliWorld, client: ApiClient): void {
  withOutput(auth.command("status"))
    .description("who you are here, and what you prove it with")
    .action(async (options: OutputOptions) => {
      const me = meSchema.parse(await client.get("/v1/me"));
      const rows = [
        ["Server", client.url],
        ["Name", me.name],
        ["Proven by", `${me.credential.type} ${me.credential.id}`],
        ["Role here", me.person?.platformRole ?? "none"],
        ...(me.secondFactor === undefined
          ? []
          : [
              ["Codes", me.secondFactor.totp ? `on, ${me.secondFactor.recoveryCodes} recovery codes left` : "off"],
              ["Passkeys", String(me.secondFactor.passkeys)],
            ]),
      ];
      showOne(world, options, {
        value: me,
        name: me.name,
        text: () => table(world, ["", ""], rows).trimStart(),
      });
    });
  withRecords(auth.command("sessions"))
    .description("where you are signed in")
    .action((options: RecordOptions) =>
      showRecords(world, options, async () => {
        const { items } = sessionListSchema.parse(await client.get("/v1/sessions"));
        return {
          value: { items },
          items,
          name: ({ id }) => id,
          head: ["ID", "LAST SEEN", "ENDS", "ADDRESS", "PROGRAM"],
          row: (one) => [
            one.current ? { text: `${one.id} (this one)`, tone: "good" } : one.id,
            one.lastSeenAt,
            one.endsAt,
            one.address,
            one.userAgent,
          ],
          empty: "You have no session: you prove yourself otherwise. See: setpoint auth status",
        };
      }),
    );
  auth
    .command("revoke")
    .description("end one of your sessions")
    .argument("<id>", "as in: setpoint auth sessions")
    .action(async (id: string) => {
      await client.send("DELETE", `/v1/sessions/${encodeURIComponent(id)}`);
      world.writeData(`session ${id} ended\n`);
    });
}

function registerProofs(auth: Command, world: CliWorld, client: ApiClient): void {
  auth
    .command("prove")
    .description("prove again that it is you: dangerous acts ask for it, and it lasts five minutes")
    .option("--password-stdin", "the first line of standard input is the password")
    .option("--code <code>", "six digits of your app, or a recovery code, instead of the password")
    .action(async (options: FromStdin & { readonly code?: string }) => {
      const body =
        options.code === undefined
          ? { password: await secretInput(world, "Password: ", options.passwordStdin === true) }
          : { code: options.code };
      await client.send("POST", "/v1/session/prove", { body });
      world.writeData("proven, for five minutes\n");
    });
  auth
    .command("password")
    .description("change your password; every other session of yours ends")
    .option("--password-stdin", "two lines of standard input: the old password and the new one")
    .action(async (options: FromStdin) => {
      const questions = ["Old password: ", "New password: "];
      const [oldPassword, password] = await secretLines(world, questions, options.passwordStdin === true);
      await client.send("PUT", "/v1/me/password", { body: { oldPassword, password } });
      world.writeData("password changed; every other session ended\n");
    });
}

function registerTotp(auth: Command, world: CliWorld, client: ApiClient): void {
  const totp = auth.command("totp").description("codes of an authenticator app as a second proof");
  const showCodes = (body: unknown) => {
    const { recoveryCodes } = recoveryCodesSchema.parse(body);
    world.writeData(recoveryCodes.map((code) => `${code}\n`).join(""));
    world.writeNote("keep these recovery codes where the app is not: each works once, and they are not shown again\n");
  };
  totp
    .command("enable")
    .description("a new secret for your app; confirm it with a code of it")
    .action(async () => {
      const { secret, uri } = totpSchema.parse((await client.send("POST", "/v1/me/totp")).body);
      world.writeData(`${uri}\n`);
      world.writeNote(
        `give your app the link above, or this secret: ${secret}\nthen: setpoint auth totp confirm CODE\n`,
      );
    });
  totp
    .command("confirm")
    .description("turn codes on by showing one; prints the recovery codes")
    .argument("<code>")
    .action(async (code: string) =>
      showCodes((await client.send("POST", "/v1/me/totp/confirm", { body: { code } })).body),
    );
  totp
    .command("codes")
    .description("new recovery codes; the old ones stop working")
    .action(async () => showCodes((await client.send("POST", "/v1/me/recovery-codes")).body));
  totp
    .command("disable")
    .description("turn codes off")
    .action(async () => {
      await client.send("DELETE", "/v1/me/totp");
      world.writeData("codes are off\n");
    });
}
