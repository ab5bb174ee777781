import { BerthError } from '../client/index.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';

type Failure = {
  readonly next?: string;
  readonly exit?: number;
  readonly words?: string | ((error: BerthError) => string);
};

const SIGN_IN = 'Sign in: berth login';
const AS_PROCESS: Failure = {
  next: 'A program that outlives both the server and you: berth run NAME -- PROGRAM',
};
const SIGNED_OUT: Failure = { exit: EXIT.notSignedIn, next: SIGN_IN };

/** What to do next, by the server's code. */
const BY_CODE: Readonly<Record<string, Failure>> = {
  unauthorized: { ...SIGNED_OUT, words: 'You are not signed in.' },
  api_token_rejected: {
    exit: EXIT.notSignedIn,
    words: 'The API token is invalid, expired or revoked.',
    next: 'Make a new one: berth tokens create NAME',
  },
  login_token_required: {
    exit: EXIT.notSignedIn,
    words: 'This needs a sign-in; an API token is not enough.',
    next: 'Sign in without a token: berth login',
  },
  insufficient_scope: { next: 'Use a token with more scopes: berth tokens create NAME --scope read,write' },
  not_authorized: { next: 'Ask the owner or an administrator.' },
  session_locked: {
    exit: EXIT.notSignedIn,
    words: 'Your session is locked.',
    next: 'Unlock it: berth unlock',
  },
  confirmation_required: {
    words: ({ fields }) =>
      'provider' in fields
        ? 'You signed in a while ago, and your account has no password by which to confirm that it’s you.'
        : 'You signed in a while ago, and there is no terminal on which to ask for your password.',
    next: 'Sign in again: berth login',
  },
  user_has_containers: {
    next: 'Choose what happens to them: --containers delete, or --containers transfer --to USER',
  },
  container_not_found: { next: 'See yours: berth ls' },
  agent_not_connected: { next: 'While berth agent runs on that machine, it comes back by itself.' },
  container_not_running: { next: 'Start it: berth start NAME' },
  container_limit_reached: { next: 'Delete one: berth rm NAME' },
  snapshot_name_taken: { next: 'See yours: berth snapshots ls' },
  snapshot_limit_reached: { next: 'Delete one: berth snapshots rm NAME' },
  snapshot_space_reached: { next: 'Delete one: berth snapshots rm NAME' },
  snapshot_needs_start: { next: 'Start it: berth start NAME' },
  kept_limit_reached: { next: 'Delete a deleted one permanently: berth rm --purge NAME' },
  name_taken: { next: 'See yours: berth ls' },
  engine_right_missing: { next: 'Ask an administrator to grant it: see docs/cluster.md.' },
  command_lost: AS_PROCESS,
  command_abandoned: AS_PROCESS,
  image_not_found: { next: 'See the images in the page, or GET /api/images.' },
  not_found: {
    words: 'The server does not know this request: it may be older than this command.',
    next: 'Compare the versions: berth doctor',
  },
  unreachable: { words: ({ message }) => `${message}.`, next: 'Find out why: berth doctor' },
  unanswered: {
    words: ({ message }) => `${message}, so the change may or may not have been made.`,
    next: 'Check before you repeat it. Find out why: berth doctor',
  },
  rate_limited: { next: 'Wait, then try again.' },
};

/** A failure in words; null for a fault of the command itself. */
export function cliErrorOf(error: unknown): CliError | null {
  if (error instanceof CliError) return error;
  if (!(error instanceof BerthError)) return null;
  const { words, next, exit } = BY_CODE[error.code] ?? (error.status === 401 ? SIGNED_OUT : {});
  const wait = error.retryAfterSeconds === null ? undefined : `Try again in ${error.retryAfterSeconds} s.`;
  const advice = wait ?? next;
  const message = typeof words === 'function' ? words(error) : (words ?? wordsOf(error));
  return new CliError(message, {
    code: error.code,
    ...(exit !== undefined && { exit }),
    ...(advice !== undefined && { next: advice }),
  });
}

/** With every field at fault, not only the first. */
function wordsOf({ message, fields }: BerthError): string {
  const faults = Object.entries(fields).map(([field, fault]) => `${field} ${fault}`);
  return faults.length > 1 ? faults.join('; ') : message;
}
