import type { AuditAction } from './audit.ts';
import type { Caller, Credential, Origin } from './identity/caller.ts';

/** Acts that change no row, so that their records can be folded. */
export type ActAction = Extract<
  AuditAction,
  'command_run' | 'file_uploaded' | 'file_deleted' | 'file_downloaded' | 'recording_downloaded'
>;

export type Act = {
  readonly action: ActAction;
  readonly caller: Caller;
  readonly origin: Origin;
  /** Row id. */
  readonly dbId: string;
  /** The first word of a command, a path or a recording; never what was in it. */
  readonly what: Readonly<Partial<Record<'command' | 'path' | 'recording_id', string>>>;
};

const MAX_TEXT = 200;

/** The credential as its owner finds it in a list: the id of a session, the first characters of a token. */
const named = (credential: Credential) =>
  credential.kind === 'login' ? { session_id: credential.sessionId } : { token_prefix: credential.prefix };

/** Control characters are dropped so that a record cannot forge lines or drive a terminal. */
const short = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, MAX_TEXT);

/** What a record says of `times` acts that were alike, of which this is the last one. */
export function actDetails({ caller, dbId, what }: Act, times: number): string {
  const texts = Object.entries(what).map(([key, text]) => [key, short(text)]);
  return JSON.stringify({
    container_id: dbId,
    ...named(caller.credential),
    ...Object.fromEntries(texts),
    ...(times > 1 ? { times } : {}),
  });
}
