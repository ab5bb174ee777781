import { path } from '../../lib/browser/router.ts';
import { Audit } from '../audit/page.tsx';
import { NotFound } from '../not-found.tsx';
import { TabbedPage } from '../tabbed-page.tsx';
import { Images } from './images.tsx';
import { Roles } from './roles.tsx';
import { AdminSettings } from './settings.tsx';
import { Tiers } from './tiers.tsx';
import { Users } from './users.tsx';

const TABS = [
  { href: '/admin', label: 'Users' },
  { href: '/admin/tiers', label: 'Tiers' },
  { href: '/admin/images', label: 'Images' },
  { href: '/admin/roles', label: 'Tools' },
  { href: '/admin/audit', label: 'Audit' },
  { href: '/admin/settings', label: 'Service' },
] as const;

/** What administrators look after. */
export function AdminPage() {
  if (!TABS.some(({ href }) => href === path.value)) return <NotFound />;
  return (
    <TabbedPage title="Administration" tabs={TABS}>
      <Part at={path.value} />
    </TabbedPage>
  );
}

function Part({ at }: { at: string }) {
  switch (at) {
    case '/admin/tiers':
      return <Tiers />;
    case '/admin/images':
      return <Images />;
    case '/admin/roles':
      return <Roles />;
    case '/admin/audit':
      return <Audit of="all" title="Audit" lead="Every action, who did it and from where." />;
    case '/admin/settings':
      return <AdminSettings />;
    default:
      return <Users />;
  }
}
