import { z } from "zod";

/** What an account of provider `hetzner-cloud` says about itself. The token is not here: `credentialRef` says where it is. */
export const hetznerCloudSettingsSchema = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL such as https://api.hetzner.cloud/v1" })
    .default("https://api.hetzner.cloud/v1")
    .describe("Where the API listens, with its version."),
});

export type HetznerCloudSettings = z.output<typeof hetznerCloudSettingsSchema>;
