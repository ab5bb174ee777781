import type { User } from '../../api/types.ts';
import type { IconName } from '../../ui/icon.tsx';

/** An area of the page with an entry in the navigation. */
export type Destination = {
  readonly href: string;
  readonly label: string;
  /** Where there is little room. */
  readonly shortLabel?: string;
  readonly icon: IconName;
  /** Other paths of the area; with `/` at the end all below. */
  readonly others?: readonly string[];
  readonly forAdmins?: boolean;
};

const DESTINATIONS: readonly Destination[] = [
  { href: '/', label: 'Containers', icon: 'box', others: ['/deleted', '/containers/'] },
  { href: '/shared', label: 'Shared with me', shortLabel: 'Shared', icon: 'share', others: ['/join'] },
  { href: '/snapshots', label: 'Snapshots', icon: 'camera' },
  { href: '/recordings', label: 'Recordings', icon: 'recordings', others: ['/recordings/'] },
  {
    href: '/admin',
    label: 'Administration',
    shortLabel: 'Admin',
    icon: 'shield' as const,
    others: ['/admin/'],
    forAdmins: true,
  },
  { href: '/settings', label: 'Settings', icon: 'gear', others: ['/settings/', '/device'] },
];

/** The areas that this user may enter, in order. */
export const destinationsOf = ({ role }: User): readonly Destination[] =>
  DESTINATIONS.filter(({ forAdmins = false }) => !forAdmins || role === 'admin');

/** Whether a path belongs to the area. */
export const isWithin = ({ href, others = [] }: Destination, path: string): boolean =>
  path === href || others.some((each) => (each.endsWith('/') ? path.startsWith(each) : path === each));
