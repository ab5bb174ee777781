import type { memoryStorage } from '../../../src/adapters/memory/index.ts';
import type { Service } from '../../../src/app/main/compose.ts';
import { type aService, as, type Person, person } from './service.ts';

export type TestService = Awaited<ReturnType<typeof aService>>;
export type Listed = Record<string, unknown> & { id: string; is_current: boolean };

/** One more sign-in of somebody. */
export async function again(service: Service, who: Person, username: string): Promise<Person> {
  const { email, password } = person(username);
  const answer = await as(service, null)('POST', '/api/auth/login', { email, password });
  const cookie = answer.cookies.find(({ name }) => name === 'berth_refresh')?.value ?? '';
  return { ...who, token: answer.json().token, cookie };
}

export const sessionsOf = async (service: Service, who: Person): Promise<Listed[]> =>
  (await as(service, who)('GET', '/api/sessions')).json().sessions;

/** The id of the session that somebody holds. */
export const sessionIdOf = async (service: Service, who: Person): Promise<string> =>
  (await sessionsOf(service, who)).find(({ is_current }) => is_current)?.id ?? '';

/** 200 while the credential opens anything. */
export const statusOf = async (service: Service, who: Person): Promise<number> =>
  (await as(service, who)('GET', '/api/me')).statusCode;

export const refresh = (service: Service, { cookie }: Pick<Person, 'cookie'>, agent?: string) =>
  service.http.inject({
    method: 'POST',
    url: '/api/auth/refresh',
    cookies: { berth_refresh: cookie },
    ...(agent === undefined ? {} : { headers: { 'user-agent': agent } }),
  });

/** What the audit holds of an action, in a service on memory. */
export const auditOf = ({ ports }: TestService, action: string) =>
  (ports.storage as ReturnType<typeof memoryStorage>).state.audit.filter((one) => one.action === action);
