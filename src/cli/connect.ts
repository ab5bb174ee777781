import { Berth, socketBy, type TokenSource } from '../client/index.ts';
import { notSignedIn } from './cli-error.ts';
import { isTerminal } from './io/io.ts';
import { type Notes, noteOnce } from './io/notes.ts';
import { credentialOf, kindOf } from './profiles/credentials.ts';
import type { HostsFile } from './profiles/hosts-file.ts';
import { sessionToken } from './profiles/session-token.ts';
import type { Target } from './profiles/target.ts';
import { USER_AGENT } from './version.ts';

/** The service, as the user. */
export const connect = (target: Target, cli: Notes & { readonly hosts: HostsFile }): Berth =>
  new Berth({
    server: target.server,
    token: tokenSource(target, cli.hosts),
    headers: { 'user-agent': USER_AGENT },
    fetch: fetchWithNote(target.server, cli),
    // why: this way the package is in the one file that the command is
    openSocket: async () => socketBy((await import('ws')).WebSocket),
  });

/** Longer than most changes take. */
const NOTE_AFTER_MS = 10_000;

/**
 * A `fetch` that prints one note when an answer takes ten seconds, or when a retry fails as well. It prints none on a
 * terminal, which shows progress, nor with `-o json`.
 */
export function fetchWithNote(server: string, cli: Notes): typeof fetch {
  const print = noteOnce(cli, `No answer from ${server} yet. Waiting…`);
  const note = isTerminal(cli.io.err) ? () => undefined : print;
  const lost = new Set<string>();
  return async (input, init) => {
    const request = `${init?.method} ${input}`;
    const timer = isUpload(init) ? undefined : setTimeout(note, NOTE_AFTER_MS);
    try {
      return await fetch(input, init);
    } catch (error) {
      // aborted or timed out: not retried
      if (init?.signal?.aborted) throw error;
      if (lost.has(request)) note();
      lost.add(request);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Its answer begins when all is sent. JSON is sent at once. */
const isUpload = (init: RequestInit = {}): boolean => init.body != null && typeof init.body !== 'string';

type OfProfile = Extract<Target, { kind: 'profile' }>;

/** The credential of each request. Throws where nobody is signed in. */
export function tokenSource(target: Target, hosts: HostsFile): TokenSource {
  switch (target.kind) {
    case 'given':
      return target.token;
    case 'anonymous':
      throw notSignedIn(`You are not signed in to ${target.server}.`, target.server);
    case 'profile': {
      const { name, server, profile } = target;
      if (profile.credential.kind === 'api_token') return profile.credential.token;
      if (kindOf(profile) === 'api_token') return () => tokenInKeyring(hosts, target);
      return (refused) => sessionToken(hosts, name, server, refused);
    }
  }
}

async function tokenInKeyring({ keyring }: HostsFile, { profile, server }: OfProfile): Promise<string> {
  const credential = await credentialOf(keyring, profile, { fresh: false });
  if (credential === null) throw notSignedIn('Your API token is no longer in the keyring.', server);
  return credential.token;
}
