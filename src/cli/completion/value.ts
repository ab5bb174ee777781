/** What may follow, with words about it. */
export type Value = { readonly value: string; readonly description: string };
