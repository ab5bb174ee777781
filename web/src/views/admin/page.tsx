import { Audit } from '../audit/page.tsx';
import { type Tab, TabbedPage } from '../tabbed-page.tsx';
import { CapacityPage } from './capacity/capacity.tsx';
import { AllContainers } from './containers/containers.tsx';
import { Images } from './images.tsx';
import { People } from './people/people.tsx';
import { Roles } from './roles.tsx';
import { AnnouncementsPage } from './service/announcements.tsx';
import { HealthPage } from './service/health.tsx';
import { AdminSettings } from './settings.tsx';
import { OpenTerminals } from './terminals.tsx';
import { Tiers } from './tiers.tsx';

export const ADMIN_TABS: readonly Tab[] = [
  { href: '/admin', label: 'People', content: () => <People /> },
  { href: '/admin/containers', label: 'Containers', content: () => <AllContainers /> },
  { href: '/admin/terminals', label: 'Terminals', content: () => <OpenTerminals /> },
  { href: '/admin/capacity', label: 'Capacity', content: () => <CapacityPage /> },
  { href: '/admin/tiers', label: 'Tiers', content: () => <Tiers /> },
  { href: '/admin/images', label: 'Images', content: () => <Images /> },
  { href: '/admin/roles', label: 'Toolsets', content: () => <Roles /> },
  {
    href: '/admin/audit',
    label: 'Audit',
    content: () => <Audit of="all" title="Audit" lead="Every action, who did it and from where." />,
  },
  { href: '/admin/health', label: 'Health', content: () => <HealthPage /> },
  { href: '/admin/announcements', label: 'Announcements', content: () => <AnnouncementsPage /> },
  { href: '/admin/settings', label: 'Server', content: () => <AdminSettings /> },
];

/** The pages of administrators. */
export const AdminPage = () => <TabbedPage title="Administration" tabs={ADMIN_TABS} />;
