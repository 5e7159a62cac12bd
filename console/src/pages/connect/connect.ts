import { api, ApiProblem, get } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { AccountDocument, Manifest } from "../../api/types.ts";

export const hetznerUrl = "https://api.hetzner.cloud/v1";

export interface Project {
  readonly name: string;
  readonly token: string;
  readonly url: string;
}

/** An account with its sealed token, and a ComputeProvider that only looks at it. It can be repeated after a mistake. */
export async function connectProject(organization: string, { name, token, url }: Project): Promise<void> {
  const accounts = `${base(organization)}/accounts`;
  const credential = { write: token };
  const { items } = await get<{ items: readonly AccountDocument[] }>(accounts);
  const known = items.find((account) => account.name === name);
  if (known === undefined)
    await api("POST", accounts, { body: { name, provider: "hetzner-cloud", settings: { url }, credential } });
  else if (known.provider === "hetzner-cloud" && known.settings["url"] === url)
    await api("PUT", `${accounts}/${encodeURIComponent(name)}/credential`, { body: credential });
  else throw new Error(`There is already an account ${name}, and it is another one. Choose another name.`);
  await declareProvider(organization, name);
}

async function declareProvider(organization: string, account: string): Promise<void> {
  const metadata = { name: account, mode: "observe" };
  const spec = { account, family: "hetzner-cloud" };
  const body = { apiVersion: "setpoint/v1", kind: "ComputeProvider", metadata, spec };
  try {
    await api("POST", `${base(organization)}/computeproviders`, { body });
  } catch (thrown) {
    // One that is declared already stays as it is: its mode may be somebody's decision.
    if (!(thrown instanceof ApiProblem) || thrown.code !== "ALREADY_EXISTS") throw thrown;
    await api("POST", `${base(organization)}/computeproviders/${encodeURIComponent(account)}:reconcile`);
  }
}

/** Declares servers just as they are, to be watched: nothing is written to them. */
export async function watchServers(organization: string, manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests)
    await api(
      "PATCH",
      `${base(organization)}/hosts/${encodeURIComponent(manifest.metadata.name)}?fieldManager=console`,
      {
        headers: { "content-type": "application/apply+json" },
        body: { ...manifest, metadata: { ...manifest.metadata, mode: "observe" } },
      },
    );
}
