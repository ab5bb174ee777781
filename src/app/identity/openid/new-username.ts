import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import { similarUsernames, usernameFrom } from '../../../domain/identity/openid/provider-sign-in.ts';
import { usernameFaults } from '../../../domain/identity/user.ts';
import { ok, refuse, unreachable } from '../../../domain/result.ts';
import type { ArrivedProviderSignIn } from '../../../ports/identity/openid/provider-sign-in-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { arrivalOf } from './arrival.ts';
import { findArrived } from './arrived.ts';
import { addressToAccept } from './invited-person.ts';
import { countFailure, type ProviderDeps } from './provider-deps.ts';

/** What the page sends back: the sign-in, its browser's secret, and the username that the person chose. */
export type Finish = {
  readonly id: string;
  readonly browser: string | null;
  readonly username: string | undefined;
};

/**
 * The username of the account that an arrived sign-in makes: the chosen one, else what the provider says. null when it
 * makes none, or its invitation names one. A name that is taken or not valid is refused before the sign-in is used up,
 * so that another can be chosen. Each taken name, and each refused choice, counts as a failure: trying names must not
 * reveal who has an account.
 */
export async function newUsername(
  deps: ProviderDeps,
  { id, browser, username: chosen }: Finish,
  origin: RequestOrigin,
): AsyncResult<string | null> {
  const { repositories } = deps.storage;
  const arrived = await findArrived(repositories, id, browser);
  const email = arrived === null ? null : await addressOfNew(repositories, arrived);
  if (arrived === null || email === null) return ok(null);
  if (chosen !== undefined) return await checkChosen(deps, chosen, origin);
  const wanted = usernameFrom(arrived.claims.username, email);
  if (wanted === null) return refuse({ code: 'provider_username_needed', suggestion: null });
  const free = await repositories.people.freeUsernames([wanted, ...similarUsernames(wanted)]);
  if (free[0] === wanted) return ok(wanted);
  const counted = await countFailure(deps, origin);
  return counted.ok ? refuse({ code: 'provider_username_needed', suggestion: free[0] ?? null }) : counted;
}

/** The address of the account that it makes; null when it makes none, or needs no username. */
async function addressOfNew(tx: Repositories, arrived: ArrivedProviderSignIn): Promise<string | null> {
  switch (arrived.purpose) {
    case 'sign_in': {
      const arrival = await arrivalOf(tx, arrived.claims);
      return arrival.ok && arrival.value.kind === 'create' ? arrival.value.email : null;
    }
    case 'invitation':
      return await addressToAccept(tx, arrived);
    case 'link':
    case 'confirm':
      return null;
    default:
      return unreachable(arrived.purpose);
  }
}

async function checkChosen(deps: ProviderDeps, username: string, origin: RequestOrigin): AsyncResult<string> {
  const faults = usernameFaults(username);
  const isValid = Object.keys(faults).length === 0;
  const { users } = deps.storage.repositories;
  if (isValid && (await users.findForLogin(username)) === null) return ok(username);
  const counted = await countFailure(deps, origin);
  const fields = isValid ? { username: 'is already in use' } : faults;
  return counted.ok ? refuse({ code: 'validation_failed', fields }) : counted;
}
