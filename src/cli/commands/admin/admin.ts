import { group } from '../../command.ts';
import { deleted } from './deleted.ts';
import { settings } from './settings.ts';
import { terminals } from './terminals.ts';
import { users } from './users.ts';

export const admin = () =>
  group('admin', 'For administrators', [users(), terminals(), settings(), deleted()]);
