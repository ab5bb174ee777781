import { isUuid } from '../../../domain/uuid.ts';
import type { ArrivedProviderSignIn } from '../../../ports/identity/openid/provider-sign-in-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';

/** An unknown browser has no secret that could match. */
const hashOf = (browser: string | null): Buffer => sha256(browser ?? newSecret());

/** What arrived in this browser, and stays; null for anything else. */
export const findArrived = async (
  { providerSignIns }: Repositories,
  id: string,
  browser: string | null,
): Promise<ArrivedProviderSignIn | null> =>
  isUuid(id) ? await providerSignIns.find(id.toLowerCase(), hashOf(browser)) : null;

/** The same, taken once. Needs a transaction that does not refuse. */
export const takeArrived = async (
  { providerSignIns }: Repositories,
  id: string,
  browser: string | null,
): Promise<ArrivedProviderSignIn | null> =>
  isUuid(id) ? await providerSignIns.finish(id.toLowerCase(), hashOf(browser)) : null;
