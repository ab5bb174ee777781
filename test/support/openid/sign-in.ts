import type { Test } from 'tap';
import { openIdProvider } from '../../../src/adapters/security/openid/openid-provider.ts';
import type { Service } from '../../../src/app/main/service.ts';
import type { Settings } from '../../../src/domain/settings.ts';
import { aService, as, type Bearer, type ServiceOptions, type TestService } from '../service/service.ts';
import {
  type AtProvider,
  CLIENT,
  type Forgery,
  type ScriptedProvider,
  scriptedProvider,
} from './scripted-provider.ts';

export const COOKIE = 'berth_provider';

export type ProviderScene = { readonly service: TestService; readonly provider: ScriptedProvider };

const silent = { warn: () => undefined };

/** The service's side of a provider. */
export const providerPort = ({ issuer }: Pick<ScriptedProvider, 'issuer'>) =>
  openIdProvider({ issuer, ...CLIENT, label: 'Example', scopes: ['openid', 'profile', 'email'] }, silent);

/** A service in memory that signs in by a provider of this test. */
export async function aProviderScene(
  t: Test,
  settings: Partial<Settings> = {},
  options: ServiceOptions = {},
): Promise<ProviderScene> {
  const provider = await scriptedProvider(t);
  const service = await aService({ openIdProvider: providerPort(provider) }, options);
  await service.ports.storage.repositories.settings.change(settings);
  return { service, provider };
}

/** Opens the address that the provider sends the browser to, with the browser's cookie. */
export const callback = ({ service }: { readonly service: Service }, back: URL, cookie: string | null) =>
  service.http.inject({
    method: 'GET',
    url: `${back.pathname}${back.search}`,
    cookies: cookie === null ? {} : { [COOKIE]: cookie },
  });

export type Answer = Awaited<ReturnType<typeof callback>>;

/** What the page reads from the address that it is sent to. */
export const outcomeOf = (answer: Answer): Readonly<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(String(answer.headers.location).split('#')[1] ?? ''));

export const cookieOf = (answer: Answer): string =>
  answer.cookies.find(({ name }) => name === COOKIE)?.value ?? '';

/** A sign-in that starts: where the browser goes, and its cookie. */
export async function begin({ service }: Pick<ProviderScene, 'service'>, returnPath = '/containers') {
  const started = await service.http.inject({
    method: 'GET',
    url: `/api/auth/oidc/start?return=${encodeURIComponent(returnPath)}`,
  });
  return { url: String(started.headers.location), cookie: cookieOf(started), answer: started };
}

export const finish = (
  { service }: Pick<ProviderScene, 'service'>,
  id: string,
  cookie: string | null,
  headers: Record<string, string> = {},
  chosen: { readonly username?: string } = {},
) =>
  service.http.inject({
    method: 'POST',
    url: '/api/auth/oidc/finish',
    payload: { id, ...chosen },
    headers,
    cookies: cookie === null ? {} : { [COOKIE]: cookie },
  });

/** From the button to the answer of the last step, or to the refusal before it. */
export async function signInBy(scene: ProviderScene, who: AtProvider, forgery: Forgery = {}) {
  const { url, cookie } = await begin(scene);
  const arrived = await callback(scene, scene.provider.authorize(url, who, forgery), cookie);
  const { arrived: id, refused } = outcomeOf(arrived);
  if (id === undefined) return { refused: refused ?? '', answer: arrived };
  const answer = await finish(scene, id, cookie);
  const refusedAtEnd = answer.statusCode === 200 ? null : (answer.json().code as string);
  return { refused: refusedAtEnd, answer };
}

/** Connects or confirms as somebody signed in; the answer of the last step, or of the refused first. */
export async function atProvider(
  scene: { readonly service: Service; readonly provider: ScriptedProvider },
  purpose: 'link' | 'confirm',
  who: AtProvider,
  caller: Bearer,
  proofs: object = {},
  forgery: Forgery = {},
) {
  const by = as(scene.service, caller);
  const started = await by('POST', '/api/me/identities/start', { purpose, ...proofs });
  if (started.statusCode !== 200) return started;
  const cookie = cookieOf(started);
  const arrived = await callback(scene, scene.provider.authorize(started.json().url, who, forgery), cookie);
  const { arrived: id } = outcomeOf(arrived);
  return await by('POST', '/api/me/identities/finish', { id }, { cookie: `${COOKIE}=${cookie}` });
}

/** Delivers a logout token as the provider does. */
export const signOutBy = ({ service }: Pick<ProviderScene, 'service'>, token: string) =>
  service.http.inject({
    method: 'POST',
    url: '/api/auth/oidc/backchannel-logout',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ logout_token: token }).toString(),
  });
