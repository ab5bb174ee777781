import ssh2, { type AuthContext, type PublicKeyAuthContext } from 'ssh2';
import type { Authenticated } from '../../app/identity/auth/verified-credential.ts';
import type { SshSignIn } from '../../app/identity/sign-in/ssh-sign-in.ts';
import type { RequestOrigin } from '../../domain/identity/caller.ts';
import { sshFingerprint } from '../../domain/identity/ssh-key.ts';
import { SSH_LIMITS } from '../../domain/terminals/ssh.ts';
import type { Logger } from '../../ports/logger.ts';
import { isSecurityKey, provesSecurityKey } from './security-key.ts';

export type AuthenticationDeps = {
  readonly signIn: SshSignIn;
  readonly origin: RequestOrigin;
  readonly log: Logger;
  /** Called before the client learns of its success. */
  readonly signedIn: (who: Authenticated, wanted: string) => Promise<void>;
  /** Ends the connection. */
  readonly giveUp: () => void;
};

/**
 * Signs a client in by a public key, whatever container it names: only the owner of a key learns anything. Every key may
 * be tried, so that nobody learns which ones are known here. `over` records a connection that never succeeded.
 */
export function authentication({ signIn, origin, log, signedIn, giveUp }: AuthenticationDeps) {
  let tries = 0;
  let wrongKeys = 0;
  let isDone = false;

  const stop = (): false => {
    giveUp();
    return false;
  };

  async function proven(context: PublicKeyAuthContext): Promise<boolean> {
    tries += 1;
    if (tries > SSH_LIMITS.signInTries) return stop();
    if (tries === 1 && (await signIn.refused(origin)) !== null) {
      isDone = true;
      return stop();
    }
    if (!isProof(context)) return false;
    const found = await signIn.byKey(sshFingerprint(context.key.data), origin);
    if (!found.ok) {
      // It is on record as what it was, and looks like an unknown key.
      isDone = true;
      return false;
    }
    if (found.value === null) return false;
    isDone = true;
    await signedIn(found.value, context.username);
    return true;
  }

  async function answer(context: AuthContext): Promise<void> {
    if (isDone || context.method !== 'publickey' || !isSupported(context))
      return context.reject(['publickey']);
    if (context.signature === undefined) return context.accept();
    if (await proven(context)) return context.accept();
    wrongKeys += 1;
    context.reject(['publickey']);
  }

  return {
    answer: (context: AuthContext): void =>
      void answer(context).catch((err: unknown) => {
        log.error({ err }, 'an SSH sign-in failed');
        giveUp();
      }),

    over: (): void => {
      if (isDone || wrongKeys === 0) return;
      isDone = true;
      signIn
        .unknownKey(origin)
        .catch((err: unknown) => log.warn({ err }, 'could not count a failed SSH sign-in'));
    },
  };
}

const PLAIN = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'];

/** RSA with SHA-2 only: without a hash the client means SHA-1. */
function isSupported({ key: { algo }, signature, hashAlgo }: PublicKeyAuthContext): boolean {
  if (algo === 'ssh-rsa') return hashAlgo !== undefined || signature === undefined;
  return PLAIN.includes(algo) || isSecurityKey(algo);
}

function isProof({ key, signature, blob, hashAlgo }: PublicKeyAuthContext): boolean {
  if (signature === undefined || blob === undefined) return false;
  if (isSecurityKey(key.algo))
    return provesSecurityKey({ algorithm: key.algo, publicKey: key.data, signature, blob });
  const parsed = ssh2.utils.parseKey(key.data);
  if (parsed instanceof Error || parsed.type !== key.algo) return false;
  return parsed.verify(blob, signature, hashAlgo) === true;
}
