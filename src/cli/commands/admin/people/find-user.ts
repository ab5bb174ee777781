import { Argument } from '@commander-js/extra-typings';
import type { Schemas } from '../../../../client/index.ts';
import type { Cli } from '../../../cli.ts';
import { findOne } from '../../../values/find.ts';

export type User = Schemas['ManagedUser'];

export const aUser = () => new Argument('[user]', 'a username, email address or id');

export const allUsers = (cli: Cli): Promise<User[]> =>
  cli.progress('Listing users', cli.berth().admin.users.list().all());

export const findUser = async (cli: Cli, given: string | undefined): Promise<User> =>
  findOne(cli, await allUsers(cli), given, {
    what: 'user',
    id: (user) => user.id,
    names: (user) => [user.username, user.email],
    list: 'berth admin users ls',
  });
