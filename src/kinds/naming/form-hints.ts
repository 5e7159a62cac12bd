/**
 * What a schema says to whoever makes a form of it; the API validates without them. They stand in the OpenAPI document, where the
 * console reads them.
 */

/** Asked for at once, though it may be left out. */
export const usual = { "x-usual": true };

/** Of the fields that name the same choice exactly one is said. The title is what this way of saying it is called. */
export function oneWay(choice: string, title: string): { readonly "x-one-of": string; readonly title: string } {
  return { "x-one-of": choice, title };
}

/** Filled in by the server: nobody is asked for it. */
export const filledIn = { readOnly: true };
