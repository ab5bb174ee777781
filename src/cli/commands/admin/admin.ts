import { group } from '../../command.ts';
import { announcements } from './announcements.ts';
import { capacity } from './capacity.ts';
import { containers } from './containers.ts';
import { deleted } from './deleted.ts';
import { health } from './health.ts';
import { invite } from './people/invite.ts';
import { invitations, resetLinks } from './people/links.ts';
import { users } from './people/users.ts';
import { settings } from './settings.ts';
import { terminals } from './terminals.ts';
import { usage } from './usage.ts';

export const admin = () =>
  group('admin', 'For administrators', [
    invite(),
    invitations(),
    users(),
    resetLinks(),
    containers(),
    terminals(),
    announcements(),
    capacity(),
    usage(),
    health(),
    settings(),
    deleted(),
  ]);
