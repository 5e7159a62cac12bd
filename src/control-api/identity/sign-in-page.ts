import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { ApiContext } from "../context.ts";
import { statusPageStyle } from "../status-page-style.ts";
import { signInScript } from "./sign-in-script.ts";

const style = `${statusPageStyle}
:root { --accent: #2450c8; --on-accent: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --accent: #8fb0ff; --on-accent: #0b1430; } }
header, main { max-width: 27rem; }
header { display: grid; grid-template-columns: auto 1fr; column-gap: 0.6rem; align-items: center; }
header svg { width: 1.75rem; height: 1.75rem; color: var(--accent); }
header p { grid-column: 1 / -1; }
form { display: grid; gap: 0.9rem; }
[hidden] { display: none !important; }
label { display: grid; gap: 0.25rem; font-weight: 600; }
input { width: 100%; padding: 0.55rem 0.65rem; font: inherit; font-weight: 400; color: var(--ink); background: var(--panel); border: 1px solid var(--soft); border-radius: 6px; }
button, a.button { padding: 0.6rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 6px; cursor: pointer; text-decoration: none; }
button.quiet { color: var(--ink); background: transparent; border-color: var(--soft); font-weight: 500; }
button.plain { padding: 0.25rem 0; color: var(--accent); background: transparent; border-color: transparent; font-weight: 500; text-decoration: underline; }
button:disabled { opacity: 0.6; cursor: default; }
input:focus-visible, button:focus-visible, a.button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: 0.6rem; }
#message { margin: 0; } #message:not(:empty) { margin-top: 0.9rem; } #message.bad { color: var(--bad); } #message.good { color: var(--good); }
small { font-weight: 400; color: var(--soft); }
`;
const styleHash = createHash("sha256").update(style).digest("base64");

/** One script of our own and nothing else; it may talk to this server alone, and no other page may frame it. */
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
const headers = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": policy,
};

/** Where people sign in: with their password, a passkey, or a one-time link whose token stands behind the #. */
export function registerSignInPage(app: FastifyInstance, context: ApiContext): void {
  app.get("/sign-in", async (_request, reply) => reply.headers(headers).type("text/html; charset=utf-8").send(page));
  app.get("/sign-in.js", async (_request, reply) =>
    reply.headers(headers).type("text/javascript; charset=utf-8").send(signInScript),
  );
  // Whether the browser is signed in already. Not being so is no error here, so that the page does not report one.
  app.get("/sign-in/state", async (request, reply) => {
    const { cookie } = request.headers;
    const proof = { authorization: undefined, cookie, method: "GET", headers: {} };
    const caller = await context.identity.sessions.read(proof).catch(() => undefined);
    if (caller !== undefined) return await reply.headers(headers).send({ name: caller.principal.name });
    const hasPeople = await context.identity.store.hasPeople();
    return await reply.headers(headers).send(hasPeople ? {} : { nobodyYet: true });
  });
}

const field = (id: string, label: string, attributes: string, hint = "") =>
  `<label for="${id}">${label}${hint === "" ? "" : ` <small>${hint}</small>`}<input id="${id}" name="${id}" ${attributes}></label>`;
const newPassword = (id: string) =>
  field(id, "Password", 'type="password" autocomplete="new-password" minlength="12" required', "12 characters or more");

const logo = `<svg viewBox="0 0 32 32" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round"><circle cx="16" cy="16" r="9"/><circle cx="16" cy="16" r="1.5"/><path d="M16 2v6M16 24v6M2 16h6M24 16h6"/></svg>`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in – Setpoint</title>
<style>${style}</style>
<script src="/sign-in.js" defer></script>
</head>
<body>
<header>${logo}<h1>Setpoint</h1><p>Sign in</p></header>
<main>
<section>
<form id="password">
<p id="nobody-yet" hidden>Nobody has an account here yet. Open the link that the start printed behind <b>Sign in</b>, or make one in a terminal: <code>bin/setpoint.mjs auth link</code></p>
${field("email", "E-mail", 'type="email" autocomplete="username" required')}
${field("secret", "Password", 'type="password" autocomplete="current-password" required')}
<div id="code-field" hidden>${field("code", "Code", 'inputmode="text" autocomplete="one-time-code"', "of your app, or a recovery code")}</div>
<div class="actions"><button>Sign in</button><button type="button" class="quiet" id="use-passkey">Use a passkey</button></div>
<div><button type="button" class="plain" id="to-forgot">Password forgotten</button></div>
</form>
<form id="first" hidden>
<p>You are the first here, and become its administrator. The e-mail address is what you sign in with; nothing is sent to it unless somebody sets up a mail server.</p>
${field("first-email", "E-mail", 'type="email" autocomplete="username" required')}
${field("first-name", "Name", 'autocomplete="name" required')}
${newPassword("first-secret")}
<div class="actions"><button>Begin</button></div>
</form>
<form id="link" hidden><p>This link signs you in, once.</p><div class="actions"><button>Sign in</button></div></form>
<form id="reset" hidden>
<p>Choose a new password. Every session of yours ends.</p>
${newPassword("reset-secret")}
<div class="actions"><button>Set password</button></div>
</form>
<form id="forgot" hidden>
${field("forgot-email", "E-mail", 'type="email" autocomplete="username" required')}
<div class="actions"><button>Send me a link</button><button type="button" class="quiet" id="to-password">Back</button></div>
</form>
<form id="signed-in" hidden>
<p>You are signed in as <strong id="who"></strong>.</p>
<div class="actions"><a class="button" href="/">To the console</a><button class="quiet">Sign out</button><button type="button" class="quiet" id="add-passkey">Add a passkey</button></div>
</form>
<p id="message" role="status" aria-live="polite"></p>
</section>
<noscript><section>This page needs JavaScript. Without it, sign in with <code>setpoint auth login</code>.</section></noscript>
</main>
</body>
</html>
`;
