import { Berth, socketBy, type TokenSource } from '../client/index.ts';
import { notSignedIn } from './cli-error.ts';
import { type Io, isTerminal } from './io/io.ts';
import type { GlobalOptions } from './options.ts';
import { credentialOf, kindOf } from './profiles/credentials.ts';
import type { HostsFile } from './profiles/hosts-file.ts';
import { sessionToken } from './profiles/session-token.ts';
import type { Target } from './profiles/target.ts';
import { USER_AGENT } from './version.ts';

/** The command that asks. */
type Caller = { readonly io: Io; readonly options: Pick<GlobalOptions, 'output'> };

/** The service, as the user. */
export const connect = (target: Target, cli: Caller & { readonly hosts: HostsFile }): Berth =>
  new Berth({
    server: target.server,
    token: tokenSource(target, cli.hosts),
    headers: { 'user-agent': USER_AGENT },
    fetch: notingFetch(target.server, cli),
    // why: this way the package is in the one file that the command is
    openSocket: async () => socketBy((await import('ws')).WebSocket),
  });

/** Longer than most changes take. */
const NOTE_AFTER_MS = 10_000;

/**
 * Says once that a request waits for its answer: after ten seconds, or when its repetition fails too. A terminal shows
 * progress instead, or a shell; a program reads the failure alone.
 */
export function notingFetch(server: string, { io, options }: Caller): typeof fetch {
  const isSaid = !isTerminal(io.err) && options.output !== 'json';
  const lost = new Set<string>();
  let isNoted = false;
  const noteOnce = (): void => {
    if (isSaid && !isNoted) io.err.write(`No answer from ${server} yet. Waiting…\n`);
    isNoted = true;
  };
  return async (input, init) => {
    const request = `${init?.method} ${input}`;
    const timer = isUpload(init) ? undefined : setTimeout(noteOnce, NOTE_AFTER_MS);
    try {
      return await fetch(input, init);
    } catch (error) {
      // an abort, or the end of its time, is no failure that is repeated
      if (init?.signal?.aborted) throw error;
      if (lost.has(request)) noteOnce();
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
