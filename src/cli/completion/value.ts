/** A completion, and the description that some shells show beside it. */
export type Value = { readonly value: string; readonly description: string };
