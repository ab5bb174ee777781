import { Secret, TOTP } from 'otpauth';
import { fixedClock, memoryPorts } from '../../../src/adapters/memory/index.ts';
import type { Service } from '../../../src/app/main/compose.ts';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { aPerson, aService, as, type Person, person } from './service.ts';

export type InTime = Service & { ports: Ports; clock: ReturnType<typeof fixedClock> };

/** A service in memory whose every clock is the one that the test moves. */
export async function aServiceInTime(): Promise<InTime> {
  const clock = fixedClock();
  const monotonicMs = (): number => clock.now().getTime();
  return { ...(await aService({ ...memoryPorts(clock), monotonicMs })), clock };
}

/** The code that an authenticator app shows at that time. */
export const codeAt = (secret: string, at: Date): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at.getTime() });

export const STEP_MS = 30_000;

export type Enrolled = { readonly who: Person; readonly secret: string; readonly recoveryCodes: string[] };

/** A user with a second factor, confirmed a step ago, so that the present code is still unused. */
export async function withMfa(service: Service & { ports: Ports }, username: string): Promise<Enrolled> {
  const who = await aPerson(service, username);
  const call = as(service, who);
  const { secret } = (await call('POST', '/api/me/mfa')).json();
  const before = new Date(service.ports.clock.now().getTime() - STEP_MS);
  const confirmed = await call('POST', '/api/me/mfa/confirm', { code: codeAt(secret, before) });
  return { who, secret, recoveryCodes: confirmed.json().recovery_codes };
}

export type From = { readonly ip?: string; readonly userAgent?: string; readonly cookie?: string };

/** A request of nobody, from an address and a program. */
export const from =
  (service: Service, { ip = '127.0.0.1', userAgent = 'browser', cookie }: From = {}) =>
  (url: string, payload?: object) =>
    service.http.inject({
      method: 'POST',
      url,
      remoteAddress: ip,
      headers: { 'user-agent': userAgent },
      ...(cookie === undefined ? {} : { cookies: { berth_refresh: cookie } }),
      ...(payload === undefined ? {} : { payload }),
    });

export const logIn = (service: Service, login: string, where: From = {}, { password } = person(login)) =>
  from(service, where)('/api/auth/login', { email: login, password });

/** The names of the audit's actions, oldest first. */
export const actions = (service: { ports: Ports }): readonly string[] => {
  const { state } = service.ports.storage as Storage & { state: { audit: readonly { action: string }[] } };
  return state.audit.map(({ action }) => action);
};
