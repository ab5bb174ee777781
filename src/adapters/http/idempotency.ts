import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Idempotency, Note, Work } from '../../app/idempotency.ts';
import { Refusal } from '../../domain/errors.ts';
import { credentialId, isRestricted } from '../../domain/identity/caller.ts';
import type { StoredAnswer } from '../../ports/idempotency-key-store.ts';
import { orThrow } from './errors.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: 'A repeat with the same key and body has no further effect and gets the same response.',
    }),
  ),
});

type Keyed = FastifyRequest<{ Headers: Static<typeof IdempotencyHeaders> }>;

const NOBODY_ASKS: Note = async () => {};

/** Does the work once per `Idempotency-Key`; without the header, each time. */
export async function onlyOnce<B extends StoredAnswer['body']>(
  keys: Idempotency,
  request: Pick<Keyed, 'headers' | 'method' | 'url' | 'caller' | 'body'>,
  reply: Pick<FastifyReply, 'header'>,
  work: Work<B>,
): Promise<StoredAnswer<B>> {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return await work.first(NOBODY_ASKS);
  if (!KEY.test(key)) {
    const fields = { 'Idempotency-Key': 'must be 1 to 255 printable characters without spaces' };
    throw new Refusal({ code: 'validation_failed', fields });
  }
  const { caller } = request;
  // A restricted token has keys of its own: another credential's answer may be of a container that it must not see.
  const owner = isRestricted(caller) ? ` ${credentialId(caller.credential)}` : '';
  const route = `${request.method} ${request.url.split('?', 1)[0]}${owner}`;
  const userId = caller.user.id;
  const done = orThrow(await keys.once({ userId, route, key }, request.body, work));
  if (done.isRepeat) reply.header('idempotency-replayed', 'true');
  return done;
}
