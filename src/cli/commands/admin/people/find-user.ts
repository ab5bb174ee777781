import { Argument } from '@commander-js/extra-typings';
import type { Schemas } from '../../../../client/index.ts';
import type { Cli } from '../../../cli.ts';
import { findOne } from '../../../values/find.ts';

export type User = Schemas['ManagedUser'];

/** The most that the service searches for, in characters. */
const LONGEST_SEARCH = 100;

export const aUser = () => new Argument('[user]', 'a username, email address or id');

export const allUsers = (cli: Cli): Promise<User[]> =>
  cli.progress('Listing users', cli.berth().admin.users.list().all());

/** What the start of an id consists of. */
const MAY_START_ID = /^[0-9a-f]{4}[0-9a-f-]*$/;

/** Reads all users when the text may be an id, or when no user has exactly that name or address. */
export async function findUser(cli: Cli, given: string | undefined): Promise<User> {
  const named = given === undefined ? [] : await usersCalled(cli, given);
  return await findOne(cli, named.length > 0 ? named : await allUsers(cli), given, {
    what: 'user',
    id: (user) => user.id,
    names: namesOf,
    list: 'berth admin users ls',
  });
}

const namesOf = ({ username, email }: User) => [username, email];

async function usersCalled(cli: Cli, given: string): Promise<User[]> {
  if (given === '' || given.length > LONGEST_SEARCH || MAY_START_ID.test(given)) return [];
  const found: User[] = [];
  for await (const user of cli.berth().admin.users.list({ search: given }))
    if (namesOf(user).includes(given)) found.push(user);
  return found;
}
