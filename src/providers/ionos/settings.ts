import { z } from "zod";

/** What an account of provider `ionos` says about itself. The token is not here: `credentialRef` says where it is. */
export const ionosSettingsSchema = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL such as https://api.ionos.com/cloudapi/v6" })
    .default("https://api.ionos.com/cloudapi/v6")
    .describe("Where the API listens, with its version."),
});
