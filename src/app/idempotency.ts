import { randomUUID } from 'node:crypto';
import { ok, refuse } from '../domain/result.ts';
import type { KeyedRequest, StoredAnswer } from '../ports/idempotency-key-store.ts';
import type { Repositories } from '../ports/storage.ts';
import type { AsyncResult } from './async-result.ts';
import { sha256 } from './identity/auth/secrets.ts';

const LEASE_SECONDS = 60;
const RENEW_EVERY_MS = 20_000;

/** Records what a request has made, in the same transaction. */
export type Note = (tx: Repositories, subject: string) => Promise<void>;

/** The work of a request; `replay` answers for what an earlier attempt made, null when it is gone. */
export type Work<B extends object> = {
  readonly first: (note: Note) => Promise<StoredAnswer<B>>;
  readonly replay?: (subject: string) => Promise<StoredAnswer<B> | null>;
};

export type Idempotency = ReturnType<typeof idempotency>;

/**
 * Does a request once per key: a repeat gets the same answer; one that comes too early or with another body is refused.
 * A refused or failed request may be retried; nothing is made twice.
 */
export function idempotency({ idempotencyKeys: keys }: Pick<Repositories, 'idempotencyKeys'>) {
  async function work<B extends object>(holder: string, { first }: Work<B>): Promise<StoredAnswer<B>> {
    const renewing = setInterval(() => {
      keys.renew(holder, LEASE_SECONDS).catch(() => undefined);
    }, RENEW_EVERY_MS);
    try {
      const answer = await first(async (tx, subject) => {
        if (!(await tx.idempotencyKeys.link(holder, subject)))
          throw new Error('another attempt has taken over');
      });
      await keys.finish(holder, answer);
      return answer;
    } catch (error) {
      // A failed request may have made something, if the answer to its COMMIT was lost.
      await keys.forget(holder).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(renewing);
    }
  }

  return {
    /** `isRepeat`: nothing was done this time. */
    async once<B extends object>(
      request: KeyedRequest,
      body: unknown,
      tasks: Work<B>,
    ): AsyncResult<StoredAnswer<B> & { readonly isRepeat: boolean }> {
      const holder = randomUUID();
      const begun = await keys.begin(request, sha256(JSON.stringify(body ?? null)), holder, LEASE_SECONDS);
      if (begun.kind === 'busy') return refuse({ code: 'idempotency_key_busy' });
      if (begun.kind === 'other_body') return refuse({ code: 'idempotency_key_reused' });
      const made = begun.subject === null ? null : ((await tasks.replay?.(begun.subject)) ?? null);
      if (begun.kind === 'done') {
        return ok({ ...(made ?? (begun.answer as StoredAnswer<B>)), isRepeat: true });
      }
      if (made === null) return ok({ ...(await work(holder, tasks)), isRepeat: false });
      await keys.finish(holder, made);
      return ok({ ...made, isRepeat: true });
    },
  };
}
