import { z } from "zod";

/** Prices come with ten decimals, such as 2.9900000000: two are kept, and more only where they say something. */
export const priceText = z.string().transform((text) => text.replace(/(\.\d{2}\d*?)0+$/, "$1"));
