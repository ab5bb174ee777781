export type File = { readonly kind: 'file'; readonly content: Buffer; readonly modifiedAt: Date };
export type Folder = {
  readonly kind: 'folder';
  readonly inside: Map<string, Node>;
  readonly modifiedAt: Date;
};
export type Node = File | Folder;
