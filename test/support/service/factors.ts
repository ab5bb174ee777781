import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { fixedClock, memoryPorts } from '../../../src/adapters/memory/index.ts';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import type { Service } from '../../../src/app/main/service.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { aPerson, aService, as, type Person, person } from './service.ts';

export type InTime = Service & { ports: Ports; clock: ReturnType<typeof fixedClock> };

/** A service in memory whose every clock is the one that the test moves. */
export async function aServiceInTime(ports: Partial<Ports> = {}): Promise<InTime> {
  const clock = fixedClock();
  const monotonicMs = (): number => clock.now().getTime();
  return { ...(await aService({ ...memoryPorts(clock), monotonicMs, ...ports })), clock };
}

/** The code that an authenticator app shows at that time. */
export const codeAt = (secret: string, at: Date): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at.getTime() });

export const STEP_MS = 30_000;

type Enrolled = { readonly who: Person; readonly secret: string; readonly recoveryCodes: string[] };

/** A user with a second factor. */
export const withMfa = async (service: Service & { ports: Ports }, username: string): Promise<Enrolled> =>
  await enrol(service, await aPerson(service, username));

/** Adds a second factor, confirmed a step ago, so that the present code is still unused. */
export async function enrol(service: Service & { ports: Ports }, who: Person): Promise<Enrolled> {
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

/** Options as the service gives them to a browser. */
type Options = {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
};

type Key = {
  readonly id: Buffer;
  readonly privateKey: KeyObject;
  readonly userHandle: string;
  count: number;
};

export type Tampering = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly verified?: boolean;
  readonly present?: boolean;
  readonly type?: string;
  readonly count?: number;
  /** What the authenticator says of its own make: signed by the new key itself, or with a certificate. */
  readonly statement?: 'self' | 'certificate';
};

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const b64 = (data: Buffer): string => data.toString('base64url');

type Encodable = null | number | string | Buffer | Map<number | string, unknown>;

/** Just the CBOR that an attestation needs: null, small integers, bytes, text and maps. */
function cbor(value: Encodable): Buffer {
  if (value === null) return Buffer.from([0xf6]);
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const pairs = [...value].flatMap(([key, one]) => [cbor(key), cbor(one as Encodable)]);
  return Buffer.concat([head(5, value.size), ...pairs]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
}

/**
 * A browser at `origin` with an authenticator that makes real keys and signatures (ES256), counts its uses, and does
 * what it is told, also what an honest one would not.
 */
export function authenticator(origin: string) {
  const keys: Key[] = [];

  const clientData = (type: string, challenge: string, at: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin: at, crossOrigin: false }));

  function data(rpId: string, count: number, { verified = true, present = true }: Tampering, key?: Buffer) {
    const flags = (present ? 1 : 0) | (verified ? 4 : 0) | (key === undefined ? 0 : 64);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(count);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter, key ?? Buffer.alloc(0)]);
  }

  return {
    keys,

    create(options: Options, tampering: Tampering = {}) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const id = randomBytes(32);
      keys.push({ id, privateKey, userHandle: options.user?.id ?? '', count: 0 });
      const cose = new Map<number | string, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cbor(cose)]);
      const authData = data(tampering.rpId ?? options.rp?.id ?? '', 0, tampering, attested);
      const type = tampering.type ?? 'webauthn.create';
      const json = clientData(type, options.challenge, tampering.origin ?? origin);
      const sig = createSign('sha256')
        .update(Buffer.concat([authData, sha256(json)]))
        .sign(privateKey);
      const self: [string, unknown][] = [
        ['alg', -7],
        ['sig', sig],
      ];
      // The library would take it for one without certificates.
      const certificate: [string, unknown] = ['x5c', null];
      const statements = { none: [], self, certificate: [...self, certificate] };
      const attestation = new Map<number | string, unknown>([
        ['fmt', tampering.statement === undefined ? 'none' : 'packed'],
        ['attStmt', new Map(statements[tampering.statement ?? 'none'])],
        ['authData', authData],
      ]);
      return {
        id: b64(id),
        rawId: b64(id),
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: {},
        response: {
          clientDataJSON: b64(json),
          attestationObject: b64(cbor(attestation)),
          transports: ['internal', 'hybrid'],
        },
      };
    },

    get(options: Options, tampering: Tampering = {}, key = keys.at(-1)) {
      if (key === undefined) throw new Error('the authenticator has no key yet');
      key.count = tampering.count ?? key.count + 1;
      const authenticatorData = data(tampering.rpId ?? options.rpId ?? '', key.count, tampering);
      const type = tampering.type ?? 'webauthn.get';
      const json = clientData(type, options.challenge, tampering.origin ?? origin);
      const signature = createSign('sha256')
        .update(Buffer.concat([authenticatorData, sha256(json)]))
        .sign(key.privateKey);
      return {
        id: b64(key.id),
        rawId: b64(key.id),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: b64(json),
          authenticatorData: b64(authenticatorData),
          signature: b64(signature),
          userHandle: key.userHandle,
        },
      };
    },
  };
}
