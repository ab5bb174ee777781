/** When something was used last. */
export type Use = { readonly id: string; readonly at: Date };
