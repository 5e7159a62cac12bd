/** Finds the value behind a credential reference (`env:NAME`, `file:PATH`). Read at each use, so that a rotated file is taken up. */
export interface Credentials {
  read(
    reference: string,
  ): Promise<{ readonly found: true; readonly value: string } | { readonly found: false; readonly message: string }>;
}
