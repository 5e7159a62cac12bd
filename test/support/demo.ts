import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { worldToken } from "../../src/world/account-book.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { operatorCall } from "./console.ts";
import { type Product, startProduct, until } from "./product.ts";

/** The product with its demo, as `npm start` brings it. */
export async function startDemo(dataDirectory: string): Promise<Product> {
  return startProduct({ dataDirectory, port: await firstOfTwoPorts(), environment: { SETPOINT_DEMO: "on" } });
}

/** What the demo declares last. */
export const lastRecord = "jobs.shop.example.";

/** Waits until the demo stands: one zone as declared, one takeover that waits for a person, one operation under way. */
export async function untilDemoStands(product: Product): Promise<void> {
  const list = async (path: string) =>
    (await operatorCall(product, "GET", `/v1/organizations/demo/${path}`)) as { items: readonly unknown[] };
  const zone = async () =>
    (await operatorCall(product, "GET", "/v1/organizations/demo/projects/shop/dnszones/shop")) as {
      status: { conditions: { type: string; status: string }[] };
    };
  const isSynced = ({ status }: Awaited<ReturnType<typeof zone>>) =>
    status.conditions.some(({ type, status: is }) => type === "Synced" && is === "True");
  // The demo declares one after the other: as declared means little before the last of them is there.
  const last = async () => outsideRecords(product, lastRecord);
  await until("the demo's last record", last, ({ length }) => length > 0, 1_200);
  await until("the demo to be as declared", zone, isSynced, 1_200);
  for (const path of ["held-changes", "operations"])
    await until(
      `the demo's ${path}`,
      () => list(path),
      ({ items }) => items.length > 0,
      1_200,
    );
}

/** Waits until all hosts of the demo were made, and everything around them stands. */
export async function untilHostsStand(product: Product): Promise<void> {
  const list = async () =>
    (await operatorCall(product, "GET", `${workspace}/hosts`)) as { items: readonly Conditioned[] };
  const stand = (items: readonly Conditioned[]) => items.length >= 12 && items.every(isReady);
  await until("the demo's hosts", list, ({ items }) => stand(items), 1_800);
  const balancers = async () =>
    (await operatorCall(product, "GET", `${workspace}/loadbalancers`)) as { items: readonly Conditioned[] };
  await until("the demo's load balancers", balancers, ({ items }) => items.length === 2 && items.every(isReady), 1_800);
}

export const workspace = "/v1/organizations/demo/projects/shop/workspaces/production";

export interface Conditioned {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly conditions: readonly { type: string; status: string; reason: string; message: string }[];
  };
}

export function isReady({ status }: Conditioned): boolean {
  return status.conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
}

/** The simulated clouds as somebody at their console sees them: the world itself. */
export async function atHetzner<Thing>(product: Product, collection: string): Promise<readonly Thing[]> {
  const body = await atOutside(product, "GET", `/_world/console/hetzner-cloud/shop/${collection}?per_page=50`);
  return (body as Record<string, readonly Thing[]>)[collection] ?? [];
}

/** Ends what a scenario laid into the way of the clouds, which otherwise lasts a minute. */
export async function endFaults(product: Product): Promise<void> {
  await atOutside(product, "DELETE", "/_world/faults");
}

interface OwnServer {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Another project at the same simulated cloud, of somebody who has never heard of Setpoint. */
export async function ownProject(product: Product) {
  const project = { cloud: "hetzner-cloud", account: "own" };
  await atOutside(product, "POST", "/_world/accounts", project);
  const labels = { owner: "me" };
  await atOutside(product, "POST", "/_world/fill", { ...project, servers: 3, prefix: "own", labels });
  const writes = async () => {
    const { requests } = (await atOutside(product, "GET", "/_world/requests")) as {
      requests: { account?: string; actor: string; method: string; path: string }[];
    };
    const ours = requests.filter(({ account, actor }) => account === "own" && actor === "api");
    return ours.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
  };
  const server = async (name: string) => {
    const body = await atOutside(product, "GET", `/_world/console/hetzner-cloud/own/servers?name=${name}`);
    const [found] = (body as { servers: readonly OwnServer[] }).servers;
    if (found === undefined) throw new Error(`there is no server ${name}`);
    return found;
  };
  const all = await atOutside(product, "GET", "/_world/console/hetzner-cloud/own/servers");
  const names = (all as { servers: readonly OwnServer[] }).servers.map(({ name }) => name);
  return { token: worldToken("own"), url: `${outsideUrl(product)}/v1`, names, writes, server };
}

function outsideUrl({ url }: Product): string {
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname}:${Number(port) + 1}`;
}

async function atOutside(product: Product, method: string, path: string, content?: unknown): Promise<unknown> {
  const answer = await fetch(`${outsideUrl(product)}${path}`, {
    method,
    ...(content === undefined ? {} : { body: JSON.stringify(content) }),
  });
  const body = await answer.text();
  return body === "" ? undefined : JSON.parse(body);
}

interface OutsideZone {
  readonly name: string;
  readonly rrsets: readonly { readonly name: string; readonly records: readonly { readonly content: string }[] }[];
}

/** What the simulated provider holds, as it wrote it down: the world itself, not what Setpoint says of it. */
export function outsideZones({ dataDirectory }: Pick<Product, "dataDirectory">): readonly OutsideZone[] {
  return (JSON.parse(readFileSync(join(dataDirectory, "demo", "dns.json"), "utf8")) as { zones: OutsideZone[] }).zones;
}

export function outsideRecords(product: Product, name: string): readonly string[] {
  return outsideZones(product).flatMap(({ rrsets }) =>
    rrsets.filter((set) => set.name === name).flatMap(({ records }) => records.map(({ content }) => content)),
  );
}

/** As a person does it: opens the tray, picks what should go wrong, and follows the link to where it shows. */
export async function breakSomething(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "Break something…" }).click();
  const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
  await row.getByRole("button", { name: "Break it" }).click();
  await row.getByRole("link", { name: "see what happens" }).click();
}

/** The demo's provider listens on the port behind the API's: both must be free. */
export async function firstOfTwoPorts(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const second = await freePort();
    if (await isFree(second - 1)) return second - 1;
  }
  throw new Error("no two free ports side by side were found");
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once("error", () => resolve(false));
  server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  return promise;
}
