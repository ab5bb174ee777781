export type File = { readonly kind: 'file'; readonly content: Buffer; readonly modifiedAt: Date };
export type Folder = {
  readonly kind: 'folder';
  readonly inside: Map<string, Node>;
  readonly modifiedAt: Date;
};
export type Node = File | Folder;

/** Another tree with the same files, whose content never changes. */
export const copyOf = (folder: Folder): Folder => ({
  ...folder,
  inside: new Map(
    [...folder.inside].map(([name, node]) => [name, node.kind === 'folder' ? copyOf(node) : node]),
  ),
});
