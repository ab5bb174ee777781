import { BerthError } from '../../client/index.ts';
import type { Cli } from '../cli.ts';

/** What proves that the request comes from the account's owner. */
export type Proof = { readonly password?: string; readonly code?: string };

/** Runs a request for which the service may want a recent sign-in; asks for the proof only then. */
export async function confirmed<T>(cli: Cli, work: (proof: Proof) => Promise<T>): Promise<T> {
  try {
    return await work({});
  } catch (error) {
    const isWanted = error instanceof BerthError && error.code === 'confirmation_required';
    if (!isWanted || !cli.ask.possible || 'provider' in error.fields) throw error;
    cli.notify('You signed in a while ago. Confirm that it’s you.');
    return 'code' in error.fields
      ? await work({ code: (await cli.ask.line('Code of your authenticator app: ')).trim() })
      : await work({ password: await cli.ask.secret('Your password: ') });
  }
}
