import { type ResourceDocument, resourceListSchema } from "../control-api/schemas/resource.ts";
import type { ApiClient } from "./api-client.ts";

/** Every page of a list. */
export async function listAll(
  client: ApiClient,
  path: string,
  labels: string | undefined,
): Promise<readonly ResourceDocument[]> {
  const items: ResourceDocument[] = [];
  let token: string | undefined;
  do {
    const query = new URLSearchParams({
      pageSize: "500",
      ...(labels === undefined ? {} : { labels }),
      ...(token === undefined ? {} : { pageToken: token }),
    });
    const page = resourceListSchema.parse(await client.get(`${path}?${query.toString()}`));
    items.push(...page.items);
    token = page.nextPageToken;
  } while (token !== undefined);
  return items;
}
