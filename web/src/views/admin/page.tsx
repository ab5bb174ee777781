import { path } from '../../lib/router.ts';
import { NotFound } from '../not-found.tsx';
import { TabbedPage } from '../tabs.tsx';
import { AdminSettings } from './settings.tsx';
import { Users } from './users.tsx';

const TABS = [
  { href: '/admin', label: 'People' },
  { href: '/admin/settings', label: 'Service' },
] as const;

/** What administrators look after. */
export function AdminPage() {
  if (!TABS.some(({ href }) => href === path.value)) return <NotFound />;
  return (
    <TabbedPage title="Administration" tabs={TABS}>
      {path.value === '/admin' ? <Users /> : <AdminSettings />}
    </TabbedPage>
  );
}
