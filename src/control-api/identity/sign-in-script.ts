/**
 * The script of the sign-in page, served as a file of its own so that the page's policy can name it. It keeps nothing: the
 * session is in a cookie that it cannot read.
 */
export const signInScript = `"use strict";
const byId = (id) => document.getElementById(id);
let token = "";

const forms = ["password", "first", "link", "reset", "forgot", "signed-in"];
function show(name) {
  for (const form of forms) byId(form).hidden = form !== name;
  say("", "");
  const field = byId(name).querySelector("input:not([hidden])");
  if (field !== null) field.focus();
}
function say(text, tone) {
  const line = byId("message");
  line.textContent = text;
  line.className = tone;
}
function value(id) { return byId(id).value; }

async function send(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
    credentials: "same-origin",
    cache: "no-store",
  });
  const text = await answer.text();
  const document = text === "" ? {} : JSON.parse(text);
  if (!answer.ok) throw new Error(document.detail || "The server answered with " + answer.status);
  return document;
}

function bytes(text) {
  const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}
function text(buffer) {
  const plain = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(plain).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
}

async function passkeyAnswer(options) {
  const publicKey = {
    ...options,
    challenge: bytes(options.challenge),
    allowCredentials: (options.allowCredentials || []).map((one) => ({ ...one, id: bytes(one.id) })),
  };
  const credential = await navigator.credentials.get({ publicKey });
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    clientExtensionResults: {},
    response: {
      clientDataJSON: text(clientDataJSON),
      authenticatorData: text(authenticatorData),
      signature: text(signature),
      ...(userHandle ? { userHandle: text(userHandle) } : {}),
    },
  };
}

async function newPasskey(options) {
  const publicKey = {
    ...options,
    challenge: bytes(options.challenge),
    user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: (options.excludeCredentials || []).map((one) => ({ ...one, id: bytes(one.id) })),
  };
  const credential = await navigator.credentials.create({ publicKey });
  const { clientDataJSON, attestationObject } = credential.response;
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    clientExtensionResults: {},
    response: {
      clientDataJSON: text(clientDataJSON),
      attestationObject: text(attestationObject),
      transports: credential.response.getTransports ? credential.response.getTransports() : [],
    },
  };
}

function onSubmit(name, work) {
  byId(name).addEventListener("submit", async (event) => {
    event.preventDefault();
    const buttons = byId(name).querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    say("One moment…", "");
    try { await work(); } catch (thrown) { say(thrown.message, "bad"); }
    finally { for (const button of buttons) button.disabled = false; }
  });
}
function onClick(id, work) {
  byId(id).addEventListener("click", async () => {
    try { await work(); } catch (thrown) { say(thrown.message, "bad"); }
  });
}
// Back to where the console sent us from; anything but a page of the console is ignored.
function goOn() {
  const next = new URLSearchParams(location.search).get("next") || "";
  location.assign(/^\\/o\\/[A-Za-z0-9]/.test(next) ? next : "/");
}

onSubmit("password", async () => {
  const code = value("code").trim();
  const answer = await send("POST", "/v1/session", {
    email: value("email"), password: value("secret"), ...(code === "" ? {} : { code }),
  });
  if (answer.secondFactor !== "required") return goOn();
  byId("code-field").hidden = false;
  byId("code").focus();
  say("Now the code of your app, or a recovery code.", "");
});
onSubmit("first", async () => {
  const person = { email: value("first-email"), name: value("first-name"), password: value("first-secret") };
  await send("POST", "/v1/session/link", { token, person });
  goOn();
});
onSubmit("link", async () => {
  await send("POST", "/v1/session/link", { token });
  goOn();
});
onSubmit("reset", async () => {
  await send("POST", "/v1/password/reset", { token, password: value("reset-secret") });
  show("password");
  say("The password is set. Sign in with it.", "good");
});
onSubmit("forgot", async () => {
  const { next } = await send("POST", "/v1/password/forgot", { email: value("forgot-email") });
  show("password");
  say(next + ".", "good");
});
onSubmit("signed-in", async () => {
  await send("DELETE", "/v1/session");
  show("password");
  say("You are signed out.", "good");
});
onClick("use-passkey", async () => {
  const { publicKey } = await send("POST", "/v1/session/passkey-options");
  await send("POST", "/v1/session/passkey", { passkey: await passkeyAnswer(publicKey) });
  goOn();
});
onClick("add-passkey", async () => {
  const { publicKey } = await send("POST", "/v1/me/passkeys/options");
  const response = await newPasskey(publicKey);
  await send("POST", "/v1/me/passkeys", { label: "browser", response });
  say("The passkey is added: next time it signs you in by itself.", "good");
});
onClick("to-forgot", () => show("forgot"));
onClick("to-password", () => show("password"));

// The first form of the page, by the link that it was opened with.
function begin() {
  token = location.hash.slice(1);
  // The link is good once; it must not stay in the history, nor be sent on.
  if (token !== "") history.replaceState(undefined, "", location.pathname + location.search);
  if (token.startsWith("spt_first_")) show("first");
  else if (token.startsWith("spt_reset_")) show("reset");
  else if (token.startsWith("spt_link_")) show("link");
  else {
    show("password");
    if (token !== "") say("This link is not whole. Copy all of it, or ask for another one.", "bad");
    askWhoIsThere();
  }
}
function askWhoIsThere() {
  // Without a session this is answered with "not signed in", which is what the form is for.
  fetch("/sign-in/state", { credentials: "same-origin", cache: "no-store" })
    .then((answer) => answer.json())
    .then(({ name, nobodyYet }) => {
      byId("nobody-yet").hidden = nobodyYet !== true;
      if (name === undefined) return;
      byId("who").textContent = name;
      show("signed-in");
    })
    .catch(() => undefined);
}
begin();
// A link that is pasted into the address of this very page loads nothing anew.
addEventListener("hashchange", () => { if (location.hash !== "") begin(); });
`;
