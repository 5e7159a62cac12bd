import { z } from "zod";

/** Equal addresses have one form. Mail servers could tell letters' cases apart, and none that people use does. */
function normalisedEmail(text: string): string {
  return text.trim().normalize("NFC").toLowerCase();
}

/** An e-mail address as people write it; comes out normalised. */
export const emailSchema = z
  .string()
  .max(254, "must have at most 254 characters")
  .transform(normalisedEmail)
  .pipe(z.string().regex(/^[^\s@<>"(),:;\\\p{Cc}]{1,64}@[^\s@<>"(),:;\\\p{Cc}]+$/u, "must be an e-mail address"))
  .meta({ description: "An e-mail address; kept in lower case." });
