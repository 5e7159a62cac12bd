/**
 * Finds the value behind a credential reference (`env:NAME`, `file:PATH`, `sealed:…`). Read at each use, so that a rotated
 * file is taken up. The binding says whose credential it is: what was sealed for something else stays shut.
 */
export interface Credentials {
  read(
    reference: string,
    binding: string,
  ): Promise<{ readonly found: true; readonly value: string } | { readonly found: false; readonly message: string }>;
}
