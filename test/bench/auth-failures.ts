/**
 * Whether response times distinguish an unknown API token from a revoked, expired or malformed one. They alternate in
 * random order over one connection; the means may differ by less than a millisecond.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { mean, median } from './support/load.ts';
import { onService } from './support/whole-service.ts';

const TRIES = Number(process.argv[2] ?? 10_000);
const WARM_UP = 500;
const WITHIN_MS = 1;

const KINDS = ['unknown', 'revoked', 'expired', 'malformed'] as const;
type Kind = (typeof KINDS)[number];

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
await onService(async ({ service, admin }) => {
  const ask = (token: string) => answeredMs(`${service.address}/api/tokens/validate`, token);
  const create = (body: object) =>
    admin.call<{ id: string; token: string }>('POST', '/api/tokens', { name: 'bench', ...body });
  const revoked = await create({});
  await admin.call('POST', `/api/tokens/${revoked.id}/revoke`);
  const expired = await create({ expires_in: 0.01 / 86_400 });
  await sleep(50);
  const tokens: { readonly [K in Kind]: () => string } = {
    unknown: () => `svc_${randomBytes(32).toString('hex')}`,
    revoked: () => revoked.token,
    expired: () => expired.token,
    malformed: () => `svc_${randomBytes(31).toString('hex')}`,
  };

  const times: { readonly [K in Kind]: number[] } = { unknown: [], revoked: [], expired: [], malformed: [] };
  for (let i = 0; i < WARM_UP; i += 1) await ask(tokens[KINDS[i % KINDS.length] ?? 'unknown']());
  for (let i = 0; i < TRIES; i += 1) {
    for (const kind of shuffled(KINDS)) times[kind].push(await ask(tokens[kind]()));
  }

  const means = KINDS.map((kind) => mean(times[kind]));
  for (const [i, kind] of KINDS.entries()) {
    console.log(
      `${kind}: mean ${means[i]?.toFixed(3)} ms, median ${median(times[kind]).toFixed(3)} ms of ${TRIES} tries`,
    );
  }
  const apart = Math.max(...means) - Math.min(...means);
  console.log(`means are at most ${apart.toFixed(3)} ms apart (allowed: ${WITHIN_MS} ms)`);
  process.exitCode = apart < WITHIN_MS ? 0 : 1;
});
agent.destroy();

/** Milliseconds until the whole answer has arrived. */
function answeredMs(url: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const start = performance.now();
    request(url, { agent, headers }, (answer) => {
      if (answer.statusCode !== 401) reject(new Error(`answered ${answer.statusCode}`));
      answer.resume().once('end', () => resolve(performance.now() - start));
    })
      .once('error', reject)
      .end();
  });
}

function shuffled<T>(values: readonly T[]): readonly T[] {
  const left = [...values];
  return values.map(() => left.splice(randomInt(left.length), 1)[0] as T);
}
