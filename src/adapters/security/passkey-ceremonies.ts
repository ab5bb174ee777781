import {
  counterHolds,
  type Passkey,
  type RelyingParty,
  userHandleOf,
} from '../../domain/identity/passkey.ts';
import type { PasskeyCeremonies } from '../../ports/identity/passkey-ceremonies.ts';

/** Imported for the first passkey: it is a seventh of all code loaded at a start. */
const webauthn = () => import('@simplewebauthn/server');
const webauthnHelpers = () => import('@simplewebauthn/server/helpers');

const PARTY_NAME = 'Berth';
const TIMEOUT_MS = 300_000;
/** ES256, EdDSA, RS256 by their COSE numbers. */
const ALGORITHMS = [-7, -8, -257];

type Transport = 'ble' | 'cable' | 'hybrid' | 'internal' | 'nfc' | 'smart-card' | 'usb';
const TRANSPORTS: readonly string[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];
const isTransport = (text: string): text is Transport => TRANSPORTS.includes(text);

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'base64url'));
const named = ({ credentialId, transports }: Passkey) => ({
  id: credentialId,
  transports: transports.filter(isTransport),
});

/** The library throws for invalid answers; here they prove nothing. */
const orNull = async <T>(work: () => Promise<T | null>): Promise<T | null> => {
  try {
    return await work();
  } catch {
    return null;
  }
};

/**
 * The authenticator's make is not requested, so attestations are not checked: verifying their certificates would fetch
 * foreign addresses.
 */
async function hasCertificates(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await webauthnHelpers();
  const decoded = decodeAttestationObject(bytesOf(attestationObject));
  const format = decoded.get('fmt');
  return format !== 'none' && (format !== 'packed' || decoded.get('attStmt').get('x5c') !== undefined);
}

const expected = (party: RelyingParty, challenge: string) => ({
  expectedChallenge: challenge,
  expectedOrigin: party.origin,
  expectedRPID: party.id,
});

const credentialOf = ({ id, rawId }: { readonly id: string; readonly rawId: string }) => ({
  id,
  rawId,
  clientExtensionResults: {},
  type: 'public-key' as const,
});

const creationOptions: PasskeyCeremonies['creationOptions'] = async (party, user, challenge, exclude) => {
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpName: PARTY_NAME,
    rpID: party.id,
    userName: user.name,
    userDisplayName: user.name,
    userID: bytesOf(userHandleOf(user.id)),
    challenge: bytesOf(challenge),
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: exclude.map(named),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  return { ...options };
};

const requestOptions: PasskeyCeremonies['requestOptions'] = async (party, challenge, allow) => {
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: bytesOf(challenge),
    timeout: TIMEOUT_MS,
    userVerification: allow === null ? 'required' : 'preferred',
    ...(allow === null ? {} : { allowCredentials: allow.map(named) }),
  });
  return { ...options };
};

const register: PasskeyCeremonies['register'] = (party, challenge, answer) =>
  orNull(async () => {
    const { clientDataJSON, attestationObject } = answer.response;
    if (await hasCertificates(attestationObject)) return null;
    const { verifyRegistrationResponse } = await webauthn();
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      ...expected(party, challenge),
      response: { ...credentialOf(answer), response: { clientDataJSON, attestationObject } },
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified || answer.type !== 'public-key') return null;
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: (answer.response.transports ?? []).filter(isTransport),
      backedUp: credentialBackedUp,
    };
  });

const assert: PasskeyCeremonies['assert'] = (party, challenge, answer, passkey, mustVerifyUser) =>
  orNull(async () => {
    const { clientDataJSON, authenticatorData, signature } = answer.response;
    const { verifyAuthenticationResponse } = await webauthn();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expected(party, challenge),
      response: { ...credentialOf(answer), response: { clientDataJSON, authenticatorData, signature } },
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
      },
      requireUserVerification: mustVerifyUser,
    });
    if (!verified || answer.type !== 'public-key') return null;
    const { newCounter, credentialBackedUp } = authenticationInfo;
    return counterHolds(passkey.counter, newCounter)
      ? { counter: newCounter, backedUp: credentialBackedUp }
      : null;
  });

export const passkeyCeremonies = (): PasskeyCeremonies => ({
  creationOptions,
  requestOptions,
  register,
  assert,
});
