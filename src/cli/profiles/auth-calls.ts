import { setTimeout as delay } from 'node:timers/promises';
import { Berth, BerthError, type BerthOptions, type Schemas } from '../../client/index.ts';
import { USER_AGENT } from '../version.ts';

const REFRESH_COOKIE = 'berth_refresh';

export type SignedIn = {
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly refreshToken: string;
  readonly username: string;
};

export const anonymous = (server: string, options: BerthOptions = {}): Berth =>
  new Berth({ ...options, server, token: null, headers: { 'user-agent': USER_AGENT } });

export const startDeviceSignIn = async (berth: Berth, machine: string): Promise<Schemas['DeviceStarted']> =>
  answered(await berth.api.POST('/api/auth/device', { body: { machine } }));

/** null while nobody has decided. */
export async function pollDeviceSignIn(berth: Berth, device_code: string): Promise<SignedIn | null> {
  try {
    return signedIn(await berth.api.POST('/api/auth/device/token', { body: { device_code } }));
  } catch (error) {
    if (error instanceof BerthError && ['authorization_pending', 'slow_down'].includes(error.code))
      return null;
    throw error;
  }
}

/** The service accepts a used refresh token again for ten seconds, for answers that were lost. */
const REPEAT_MS = 8_000;
const TRY_MS = 4_000;
const LEAST_TRY_MS = 1_000;
const PAUSE_MS = 250;
/** The client's own would take longer. */
const NONE = { retries: 0, firstMs: 0, maxMs: 0, maxWaitMs: 0 };

/**
 * Asks again where no answer came: a used refresh token that comes later looks stolen, and ends the session. Ends within
 * eight seconds, since other commands wait for the file.
 */
export async function renew(server: string, refreshToken: string): Promise<SignedIn> {
  const until = performance.now() + REPEAT_MS;
  const leftMs = (): number => Math.ceil(until - performance.now());
  for (;;) {
    try {
      return await renewOnce(server, refreshToken, { timeoutMs: Math.min(TRY_MS, leftMs()), retries: NONE });
    } catch (error) {
      if (!mayBeSpent(error) || leftMs() < PAUSE_MS + LEAST_TRY_MS) throw error;
      await delay(PAUSE_MS);
    }
  }
}

async function renewOnce(server: string, refreshToken: string, options: BerthOptions): Promise<SignedIn> {
  const headers = { cookie: `${REFRESH_COOKIE}=${refreshToken}` };
  return signedIn(await anonymous(server, options).api.POST('/api/auth/refresh', { headers }));
}

/** Also when a proxy answers in place of the service. */
const mayBeSpent = (error: unknown): boolean =>
  error instanceof BerthError && (error.status === 0 || error.status >= 500);

type Answer<T> = { readonly data?: T; readonly response: Response };

function answered<T>({ data }: Answer<T>): T {
  if (data === undefined) throw new BerthError(0, 'bad_answer', 'the server did not answer with JSON');
  return data;
}

/** The refresh token comes as a cookie, which browsers keep from scripts. */
function signedIn(answer: Answer<Schemas['SignedIn']>): SignedIn {
  const { token, expires_at, user } = answered(answer);
  const cookies = answer.response.headers.getSetCookie().map((each) => each.split(';', 1)[0] ?? '');
  const refreshToken = cookies.find((each) => each.startsWith(`${REFRESH_COOKIE}=`))?.split('=', 2)[1];
  if (!refreshToken) throw new BerthError(0, 'bad_answer', 'the server sent no refresh token');
  return { token, expiresAt: expires_at, refreshToken, username: user.username };
}
