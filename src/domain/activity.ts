import type { AuditAction } from './audit.ts';
import type { Caller, Credential, RequestOrigin } from './identity/caller.ts';

/** Acts that change no row, so their records can be merged. */
export type ActAction = Extract<
  AuditAction,
  | 'command_run'
  | 'ssh_refused'
  | 'port_forwarded'
  | 'ssh_agent_forwarded'
  | 'file_uploaded'
  | 'file_deleted'
  | 'file_downloaded'
  | 'files_searched'
  | 'ports_listed'
  | 'recording_downloaded'
  | 'process_signalled'
>;

export type Act = {
  readonly action: ActAction;
  readonly caller: Caller;
  readonly origin: RequestOrigin;
  /** null: no container. */
  readonly dbId: string | null;
  /** A command's first word, a port or socket, a path, an id, a signal or a name that was asked for; never contents. */
  readonly what: Readonly<
    Partial<Record<'command' | 'port' | 'path' | 'recording_id' | 'process_id' | 'signal' | 'wanted', string>>
  >;
};

const MAX_TEXT = 200;

/**
 * The credential as its owner's lists show it: a session id, a token's first characters and its name, or a key's
 * fingerprint.
 */
export function credentialDetails(credential: Credential): Readonly<Record<string, string>> {
  switch (credential.kind) {
    case 'login':
      return { session_id: credential.sessionId };
    case 'api_token':
      return { token_prefix: credential.prefix, token_name: shortText(credential.name) };
    case 'ssh_key':
      return { ssh_key: credential.fingerprint };
  }
}

/** Without control characters a record cannot forge lines or drive a terminal. */
export const shortText = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, MAX_TEXT);

/** The details of `times` equal acts, of which this is the last. */
export function actDetails({ caller, dbId, what }: Act, times: number): string {
  const texts = Object.entries(what).map(([key, text]) => [key, shortText(text)]);
  return JSON.stringify({
    ...(dbId === null ? {} : { container_id: dbId }),
    ...credentialDetails(caller.credential),
    ...Object.fromEntries(texts),
    ...(times > 1 ? { times } : {}),
  });
}
