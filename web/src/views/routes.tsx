import type { JSX } from 'preact';
import type { User } from '../api/types.ts';
import { accountLinks, INVITE_PATH, RESET_PATH } from '../state/account-links.ts';
import { DEVICE_PATH } from '../state/device-code.ts';
import { JOIN_PATH } from '../state/invitation.ts';
import { PROVIDER_PATH } from '../state/provider-return.ts';
import { AdminPage } from './admin/page.tsx';
import { DevicePage } from './auth/device-page.tsx';
import { LinkWhileSignedIn } from './auth/links/while-signed-in.tsx';
import { ProviderWhileSignedIn } from './auth/provider-page.tsx';
import { DeletedPage } from './containers/deleted/page.tsx';
import { ContainersPage } from './containers/page.tsx';
import { SharedPage } from './containers/shared-page.tsx';
import { NotFound } from './not-found.tsx';
import { RecordingsPage } from './recordings/list-page.tsx';
import { PlaybackPage } from './recordings/playback-page.tsx';
import { SettingsPage } from './settings/page.tsx';
import {
  AfterReset,
  CREDENTIALS_PATH,
  CredentialsPage,
  RESET_DONE_PATH,
} from './settings/sign-ins/credentials-page.tsx';
import { JoinPage } from './sharing/join.tsx';
import { SnapshotsPage } from './snapshots/page.tsx';

type Route = {
  /** Whole paths; a group is what the path names. */
  readonly path: RegExp;
  readonly page: (name: string) => JSX.Element;
  readonly forAdmins?: boolean;
};

const exactly = (path: string): RegExp => new RegExp(`^${path}$`);
/** The path itself, and all below it. */
const within = (path: string): RegExp => new RegExp(`^${path}(?:/|$)`);

const ROUTES: readonly Route[] = [
  { path: exactly('/'), page: () => <ContainersPage /> },
  { path: exactly('/deleted'), page: () => <DeletedPage /> },
  { path: exactly('/snapshots'), page: () => <SnapshotsPage /> },
  { path: exactly('/shared'), page: () => <SharedPage /> },
  { path: exactly(JOIN_PATH), page: () => <JoinPage /> },
  { path: exactly(DEVICE_PATH), page: () => <DevicePage /> },
  { path: exactly(INVITE_PATH), page: () => <LinkWhileSignedIn link={accountLinks.invite} /> },
  {
    path: exactly(RESET_PATH),
    page: () => <LinkWhileSignedIn link={accountLinks.reset} next={RESET_DONE_PATH} />,
  },
  { path: exactly(RESET_DONE_PATH), page: () => <AfterReset /> },
  { path: exactly(PROVIDER_PATH), page: () => <ProviderWhileSignedIn /> },
  { path: exactly('/recordings'), page: () => <RecordingsPage /> },
  { path: /^\/recordings\/([^/]+)$/, page: (id) => <PlaybackPage key={id} id={id} /> },
  { path: exactly(CREDENTIALS_PATH), page: () => <CredentialsPage /> },
  { path: within('/settings'), page: () => <SettingsPage /> },
  { path: within('/admin'), page: () => <AdminPage />, forAdmins: true },
];

/** The page at an address, within the frame. Pages without it, as a terminal, are not here. */
export function PageAt({ path, user }: { path: string; user: User }) {
  for (const { path: pattern, page, forAdmins = false } of ROUTES) {
    const found = pattern.exec(path);
    if (found !== null && (!forAdmins || user.role === 'admin')) return page(nameIn(found));
  }
  return <NotFound />;
}

function nameIn([, name = '']: RegExpExecArray): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
