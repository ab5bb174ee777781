import { authenticator, type Tampering } from './authenticator.ts';
import { from, type InTime } from './factors.ts';
import { as, type Person } from './service.ts';

/** Where the browser of the tests is. */
export const AT = 'http://localhost:8080';

/** Registers a passkey of somebody's. */
export async function register(service: InTime, who: Person, name = 'Laptop') {
  const key = authenticator(AT);
  const call = as(service, who);
  const options = (await call('POST', '/api/me/passkeys/options')).json();
  const made = await call('POST', '/api/me/passkeys/verify', { name, credential: key.create(options) });
  if (made.statusCode !== 201) throw new Error(`not registered: ${made.body}`);
  return { key, passkey: made.json() };
}

/** Signs in with a passkey alone. */
export async function signIn(
  service: InTime,
  key: ReturnType<typeof authenticator>,
  tampering: Tampering = {},
) {
  const options = (await from(service)('/api/auth/passkey/options')).json();
  return await from(service)('/api/auth/passkey/verify', { credential: key.get(options, tampering) });
}
