/** A proof by passkey, in the JSON form that the API takes. */
export async function assertPasskey(options: Readonly<Record<string, unknown>>): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  const credential = await navigator.credentials.get({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was given.");
  return credential.toJSON();
}

export async function createPasskey(options: Readonly<Record<string, unknown>>): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const credential = await navigator.credentials.create({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was made.");
  return credential.toJSON();
}
