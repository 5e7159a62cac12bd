/** A proof by passkey, in the JSON form that the API takes. */
export async function assertPasskey(options: Readonly<Record<string, unknown>>): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  const credential = await navigator.credentials.get({ publicKey }).catch((thrown: unknown) => {
    throw inOurWords(thrown, "given");
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was given.");
  return credential.toJSON();
}

export async function createPasskey(options: Readonly<Record<string, unknown>>): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const credential = await navigator.credentials.create({ publicKey }).catch((thrown: unknown) => {
    throw inOurWords(thrown, "made");
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was made.");
  return credential.toJSON();
}

/** Browsers name what happened by a word for programs. */
function inOurWords(thrown: unknown, what: "given" | "made"): unknown {
  const name = thrown instanceof DOMException ? thrown.name : "";
  if (name === "NotAllowedError") return new Error(`No passkey was ${what}: it was cancelled, or took too long.`);
  if (name === "InvalidStateError") return new Error("This device or key has a passkey for you already.");
  return thrown;
}
