import { BerthError } from '../../api/errors.ts';
import { base64UrlOf, bytesOf } from './base64url.ts';

export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;
export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;

const IS_ADDRESS = /^(\d+\.){3}\d+$|^\[/;

/** Whether this browser, at this address, can have passkeys: they belong to a name, and need a safe line. */
export const passkeysPossible = (): boolean =>
  isSecureContext && 'PublicKeyCredential' in globalThis && !IS_ADDRESS.test(location.hostname);

/** Of a service on this machine, the address at which its browsers can have passkeys; null elsewhere. */
export const localPasskeyAddress = (): string | null =>
  /^(127\.|\[::1\]$)/.test(location.hostname)
    ? location.origin.replace(location.hostname, 'localhost')
    : null;

/** The browser's errors for a cancelled or refused prompt say nothing to the user. */
async function credentialFrom(prompt: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await prompt;
    if (credential instanceof PublicKeyCredential) return credential;
  } catch (failure) {
    if ((failure as Partial<DOMException>).name === 'InvalidStateError') {
      throw new BerthError(0, 'passkey_registered', 'the passkey is already registered');
    }
  }
  throw new BerthError(0, 'passkey_cancelled', 'no passkey was used');
}

const known = (list: readonly PublicKeyCredentialDescriptorJSON[] = []): PublicKeyCredentialDescriptor[] =>
  list.map(({ id, transports }) => ({
    id: bytesOf(id),
    type: 'public-key',
    ...(transports && { transports: transports as AuthenticatorTransport[] }),
  }));

const common = ({ id, rawId }: PublicKeyCredential) => ({
  id,
  rawId: base64UrlOf(rawId),
  type: 'public-key',
});

/** Has a passkey sign the challenge; the answer is as the service takes it. */
export async function usePasskey(options: RequestOptions): Promise<object> {
  const { extensions: _, hints: __, ...rest } = options;
  const publicKey = {
    ...rest,
    challenge: bytesOf(options.challenge),
    allowCredentials: known(options.allowCredentials),
  } as PublicKeyCredentialRequestOptions;
  const credential = await credentialFrom(navigator.credentials.get({ publicKey }));
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    ...common(credential),
    response: {
      clientDataJSON: base64UrlOf(response.clientDataJSON),
      authenticatorData: base64UrlOf(response.authenticatorData),
      signature: base64UrlOf(response.signature),
      userHandle: response.userHandle === null ? null : base64UrlOf(response.userHandle),
    },
  };
}

/** Makes a passkey on a device that the user chooses; the answer is as the service takes it. */
export async function makePasskey(options: CreationOptions): Promise<object> {
  const { attestation, excludeCredentials, extensions: _, hints: __, ...rest } = options;
  const publicKey = {
    ...rest,
    challenge: bytesOf(options.challenge),
    user: { ...options.user, id: bytesOf(options.user.id) },
    pubKeyCredParams: options.pubKeyCredParams as PublicKeyCredentialParameters[],
    excludeCredentials: known(excludeCredentials),
  } as PublicKeyCredentialCreationOptions;
  const credential = await credentialFrom(navigator.credentials.create({ publicKey }));
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    ...common(credential),
    response: {
      clientDataJSON: base64UrlOf(response.clientDataJSON),
      attestationObject: base64UrlOf(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}
