import { SetupFault } from './credential.ts';
import type { Identity } from './state-file.ts';

const ANSWER_MS = 30_000;

/** Exchanges a one-time code for this host's token. Throws `SetupFault`. */
export async function enrol(server: string, code: string, { id, name }: Identity): Promise<string> {
  const answer = await fetch(new URL('/api/agents/enrol', server), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: code.trim(), agent: id, name }),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch((error: Error) => {
    throw new SetupFault(`${server} does not answer: ${causeOf(error)}`);
  });
  const { token, error } = Object(await answer.json().catch(() => null));
  if (answer.status === 201 && typeof token === 'string') return token;
  throw new SetupFault(`not enrolled: ${typeof error === 'string' ? error : `status ${answer.status}`}`);
}

/** fetch says only "fetch failed"; its cause says why. */
const causeOf = (error: Error): string =>
  error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
