import type { Container, ContainerState } from '../../../domain/containers/container.ts';
import type { Page } from '../../pagination.ts';

export const ADMINISTERED_SORTS = ['created_at', 'last_used_at', 'name', 'owner', 'status', 'disk'] as const;

export type AdministeredSort = (typeof ADMINISTERED_SORTS)[number];

/** A page of the list; `after` is the previous page's `next`, of the same order. */
export type AdministeredRequest = {
  readonly after: string | null;
  readonly limit: number;
  readonly sort: { readonly by: AdministeredSort; readonly isReverse: boolean };
};

/** Absent fields do not filter. */
export type AdministeredFilter = {
  /** Deleted ones that can be restored, instead of live ones. */
  readonly isDeleted: boolean;
  /** The owner's id, or full name, ignoring case. */
  readonly owner?: string;
  readonly state?: ContainerState;
  /** Only these rows; ids that are not UUIDs are no row's. */
  readonly dbIds?: readonly string[];
  /** Part of the name, the owner's name, the image or the role, ignoring case. */
  readonly text?: string;
};

export type AdministeredContainer = { readonly container: Container; readonly isGuests: boolean };

/** `total`: on all pages. */
export type AdministeredPage = Page<AdministeredContainer> & { readonly total: number };

/** The containers of all users, for administrators. Agents are machines of their owners, and not among them. */
export interface AdministeredContainerRepository {
  /** A missing time comes last, in either order. Throws `UnknownPage`. */
  page(request: AdministeredRequest, filter: AdministeredFilter): Promise<AdministeredPage>;
}
