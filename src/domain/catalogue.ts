/** An image that may be started. */
export type Image = {
  readonly key: string;
  readonly label: string;
  readonly reference: string;
  readonly digest: string | null;
  readonly shell: string;
};

/** A set of development tools that can be installed in a container. */
export type Role = { readonly key: string; readonly label: string };

export const DEFAULT_IMAGE_KEY = 'debian';
export const DEFAULT_ROLE_KEY = 'standard';
