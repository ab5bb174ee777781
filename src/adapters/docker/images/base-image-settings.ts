import type { Log } from '../host/host-commands.ts';

/** The image of the catalogue's first entry, and the public image that it can be made from. */
export const BASE_REFERENCE = 'berth/debian:12';
export const BASE_UPSTREAM = 'docker.io/library/debian:12-slim';

export type BaseImageSettings = {
  readonly reference: string;
  readonly progress: (message: string) => void;
  readonly log: Log;
  /** Whether a registry may be asked, given a network for installing into what it has. */
  readonly allowPull: boolean;
  /** One with a way out: the default network of a private engine has none. */
  readonly network?: string;
  /** Ends the preparation early; nothing of it is left then. */
  readonly signal?: AbortSignal;
};

/** Name of an image that is not finished, or not known to be. */
export type Draft = { readonly repo: string; readonly tag: string };
