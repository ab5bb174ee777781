type Listed = { readonly id: string; readonly parent_id: string | null };

export type InTree<T> = { readonly token: T; readonly level: number };

/** Each token followed by its children, in the order of the list. One whose parent is not listed comes as a first. */
export function tokenTree<T extends Listed>(tokens: readonly T[]): readonly InTree<T>[] {
  const ids = new Set(tokens.map(({ id }) => id));
  const parentOf = ({ parent_id }: T): string | null =>
    parent_id !== null && ids.has(parent_id) ? parent_id : null;
  const branch = (parent: string | null, level: number): InTree<T>[] =>
    tokens
      .filter((token) => parentOf(token) === parent)
      .flatMap((token) => [{ token, level }, ...branch(token.id, level + 1)]);
  return branch(null, 0);
}
