import { type Api, at, type CallOptions, dataOf, type Schemas } from '../request/api.ts';
import { listAt } from '../request/lists.ts';

/** The caller's API tokens. Needs a login token, except `derive` and `validate`. */
export function tokensOf(api: Api) {
  return {
    list: listAt(api, '/api/tokens', 'tokens'),
    /** The secret is in this answer only. `expires_in` is in days. */
    create: (body: Schemas['ApiTokenRequest'], options?: CallOptions) =>
      dataOf(api.POST('/api/tokens', { body, ...options })),
    /** A token that can do at most what the one in use can, and ends with it. */
    derive: (body: Schemas['ChildTokenRequest'], options?: CallOptions) =>
      dataOf(api.POST('/api/tokens/derive', { body, ...options })),
    revoke: (id: string, options?: CallOptions) =>
      dataOf(api.POST('/api/tokens/{id}/revoke', at(id, options))),
    delete: (id: string, options?: CallOptions) => dataOf(api.DELETE('/api/tokens/{id}', at(id, options))),
    /** Scopes, containers and user of the API token in use. */
    validate: (options?: CallOptions) => dataOf(api.GET('/api/tokens/validate', { ...options })),
  };
}

/** The caller's sign-ins. Needs a login token. */
export function sessionsOf(api: Api) {
  const because = (reason?: string) => (reason === undefined ? {} : { body: { reason } });
  return {
    list: listAt(api, '/api/sessions', 'sessions'),
    revoke: (id: string, reason?: string, options?: CallOptions) =>
      dataOf(api.DELETE('/api/sessions/{id}', { ...because(reason), ...at(id, options) })),
    /** All but the one in use. */
    revokeOthers: (reason?: string, options?: CallOptions) =>
      dataOf(api.POST('/api/sessions/revoke-others', { ...because(reason), ...options })),
  };
}

/** The caller's passkeys. Needs a login token; a removal, and `password` or `code` if the sign-in is old. */
const passkeysOf = (api: Api) => ({
  list: listAt(api, '/api/me/passkeys', 'passkeys'),
  /** What the browser's `navigator.credentials.create` needs. */
  options: (body: Schemas['ConfirmationRequest'] = {}, options?: CallOptions) =>
    dataOf(api.POST('/api/me/passkeys/options', { body, ...options })),
  /** Adds what the browser made. */
  register: (body: Schemas['PasskeyRegistration'], options?: CallOptions) =>
    dataOf(api.POST('/api/me/passkeys/verify', { body, ...options })),
  rename: (id: string, name: string, options?: CallOptions) =>
    dataOf(api.PATCH('/api/me/passkeys/{id}', { body: { name }, ...at(id, options) })),
  delete: (id: string, body: Schemas['ConfirmationRequest'] = {}, options?: CallOptions) =>
    dataOf(api.DELETE('/api/me/passkeys/{id}', { body, ...at(id, options) })),
});

/** The caller's sign-ins at the OpenID provider. Needs a login token; changes need what those of passkeys need. */
const identitiesOf = (api: Api) => ({
  list: listAt(api, '/api/me/identities', 'identities'),
  /** Where the browser goes to connect a person, or to confirm. For browsers: the answer needs the cookie it sets. */
  start: (body: Schemas['IdentityStart'], options?: CallOptions) =>
    dataOf(api.POST('/api/me/identities/start', { body, ...options })),
  finish: (id: string, options?: CallOptions) =>
    dataOf(api.POST('/api/me/identities/finish', { body: { id }, ...options })),
  delete: (id: string, body: Schemas['ConfirmationRequest'] = {}, options?: CallOptions) =>
    dataOf(api.DELETE('/api/me/identities/{id}', { body, ...at(id, options) })),
});

/** The caller's profile, and what signs in to the account. */
export const meOf = (api: Api) => ({
  passkeys: passkeysOf(api),
  identities: identitiesOf(api),
  get: (options?: CallOptions) => dataOf(api.GET('/api/me', { ...options })),
  update: (body: Schemas['ProfileChange'], options?: CallOptions) =>
    dataOf(api.PATCH('/api/me', { body, ...options })),
  sshKeys: {
    list: listAt(api, '/api/me/ssh-keys', 'ssh_keys'),
    add: (body: Schemas['SshKeyRequest'], options?: CallOptions) =>
      dataOf(api.POST('/api/me/ssh-keys', { body, ...options })),
    delete: (id: string, options?: CallOptions) =>
      dataOf(api.DELETE('/api/me/ssh-keys/{id}', at(id, options))),
  },
});
