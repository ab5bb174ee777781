import { fixedClock, memoryStorage } from '../../src/adapters/memory/index.ts';
import type { KeyedRequest } from '../../src/ports/idempotency-keys.ts';
import { idempotencyKeysContract } from '../contract/idempotency-keys.ts';
import { idempotentRequests } from '../contract/idempotent-requests.ts';

const storage = memoryStorage(fixedClock());
type Entry = (typeof storage.state.idempotencyKeys)[number];

const change = (request: KeyedRequest, to: (entry: Entry) => Partial<Entry>): void => {
  storage.state.idempotencyKeys = storage.state.idempotencyKeys.map((one) =>
    one.userId === request.userId && one.route === request.route && one.key === request.key
      ? { ...one, ...to(one) }
      : one,
  );
};

await idempotencyKeysContract('memory', storage, async (request, hours) =>
  change(request, ({ createdAtMs }) => ({ createdAtMs: createdAtMs - hours * 3_600_000 })),
);
await idempotentRequests('memory', storage, async (request) => change(request, () => ({ leaseUntilMs: 0 })));
