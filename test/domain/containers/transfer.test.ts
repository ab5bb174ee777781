import t from 'tap';
import {
  decideTransfer,
  type TransferFacts,
} from '../../../src/domain/containers/administration/transfer.ts';
import type { Tier } from '../../../src/domain/containers/resources.ts';
import type { User } from '../../../src/domain/identity/user.ts';

const range = { min: 256, max: 2048 };
const tier = { name: 'free', memoryMb: range, cpuMillicores: range, diskMb: range, maxContainers: 2 } as Tier;
const bob: User = {
  id: 'bob',
  email: 'bob@example.org',
  username: 'bob',
  role: 'user',
  tier: 'free',
  createdAt: new Date(0),
  disabledAt: null,
  guestUntil: null,
  endsAt: null,
};
const container = { ownerId: 'ada', resources: { memoryMb: 2048, cpuMillicores: 256, diskMb: 512 } };
const NOW = new Date('2026-01-02T00:00:00Z');
const FACTS: TransferFacts = { newOwner: bob, tier, callerId: 'root', live: 1, nameInUse: false, now: NOW };

type Outcome = { readonly code: string; readonly fields?: object; readonly max?: number } | null;
const faulty = (field: string, words: RegExp | string): Outcome => ({
  code: 'validation_failed',
  fields: { [field]: words },
});

const CASES: readonly (readonly [string, Partial<TransferFacts>, Outcome, (string | typeof container)?])[] = [
  ['a user with room', {}, null],
  ['nobody', { newOwner: null }, faulty('to', 'must be a user with an enabled account')],
  [
    'a disabled user',
    { newOwner: { ...bob, disabledAt: new Date() } },
    faulty('to', 'must be a user with an enabled account'),
  ],
  [
    'a user whose account has ended, but is not disabled yet',
    { newOwner: { ...bob, endsAt: NOW } },
    faulty('to', 'must be a user with an enabled account'),
  ],
  ['a user whose account ends later', { newOwner: { ...bob, endsAt: new Date(NOW.getTime() + 1) } }, null],
  [
    'a guest',
    { newOwner: { ...bob, guestUntil: new Date() } },
    faulty('to', 'must be a user with an enabled account'),
  ],
  ['the owner', { newOwner: { ...bob, id: 'ada' } }, faulty('to', 'is the owner already')],
  ['the administrator', { callerId: 'bob' }, faulty('to', 'must be somebody else than you')],
  ['a user without room', { live: 2 }, { code: 'container_limit_reached', max: 2 }],
  ['a user with too many already', { live: 3 }, { code: 'container_limit_reached', max: 2 }],
  [
    'a user of a smaller tier',
    {},
    faulty('to', /^cannot have a container of this size: memory_mb must be .* 256 to 2048 in tier free$/),
    { ...container, resources: { ...container.resources, memoryMb: 4096 } },
  ],
  ['a user who uses the name', { nameInUse: true }, faulty('name', 'is already in use by bob')],
  ['a user, under a bad name', {}, faulty('name', /letters, digits/), 'a b'],
];

for (const [who, facts, refused, change] of CASES) {
  t.test(`a container for ${who}: ${refused === null ? 'given' : 'refused'}`, async (t) => {
    const name = typeof change === 'string' ? change : 'dev';
    const box = typeof change === 'object' ? change : container;
    const decided = decideTransfer(box, name, { ...FACTS, ...facts });
    t.match(decided, refused === null ? { ok: true } : { ok: false, error: refused });
  });
}

t.test('an administrator gives away an own container', async (t) => {
  t.ok(decideTransfer({ ...container, ownerId: 'root' }, 'dev', FACTS).ok);
});
