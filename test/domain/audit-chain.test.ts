import t from 'tap';
import {
  type ChainHead,
  type ChainLink,
  follow,
  GENESIS,
  headText,
  parseHead,
  type SealedContent,
  sealed,
  sealOf,
} from '../../src/domain/audit-chain.ts';

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const record = (n: number, over: Partial<SealedContent> = {}): SealedContent => ({
  id: idOf(n),
  userId: null,
  action: 'login',
  ipAddress: '::1',
  userAgent: 'agent',
  details: `${n}`,
  createdAtMicros: `${1_000_000 + n}`,
  ...over,
});

/** Records 1 to `count`, sealed. */
function chain(count: number): ChainLink[] {
  let head: ChainHead = GENESIS;
  return Array.from({ length: count }, (_, index) => {
    const content = record(index + 1);
    head = sealed(head, content);
    return { ...head, recordId: content.id, content };
  });
}

/** The number and the fault of the first broken link, or `whole`. */
function checked(links: readonly ChainLink[]): string {
  let head: ChainHead = GENESIS;
  for (const link of links) {
    const next = follow(head, link);
    if ('broken' in next) return `${next.broken.seq} ${next.broken.why}`;
    head = next.head;
  }
  return 'whole';
}

const changed = (n: number, change: (link: ChainLink) => ChainLink): ChainLink[] =>
  chain(5).map((link) => (link.seq === BigInt(n) ? change(link) : link));

const contentOf = (n: number, over: Partial<SealedContent>): ChainLink[] =>
  changed(n, (link) => ({ ...link, content: record(n, over) }));

t.test('a change of the chain is found at the first place where it shows', async (t) => {
  const links = chain(5);
  const swapped = links.with(1, links[2] as ChainLink).with(2, links[1] as ChainLink);
  const renumbered = swapped.map((link, index) => ({ ...link, seq: BigInt(index + 1) }));
  const forged = record(9);
  const inserted = [
    ...links.slice(0, 2),
    { ...sealed(links[1] as ChainLink, forged), recordId: forged.id, content: forged },
    ...links.slice(2).map((link) => ({ ...link, seq: link.seq + 1n })),
  ];
  const cases: readonly (readonly [string, readonly ChainLink[], string])[] = [
    ['nothing', links, 'whole'],
    ['an empty chain', [], 'whole'],
    ['another user', contentOf(3, { userId: idOf(7) }), '3 hash differs'],
    ['another action', contentOf(1, { action: 'logout' }), '1 hash differs'],
    ['another address', contentOf(5, { ipAddress: '::2' }), '5 hash differs'],
    ['another agent', contentOf(2, { userAgent: 'agent ' }), '2 hash differs'],
    ['other details', contentOf(4, { details: '' }), '4 hash differs'],
    ['a microsecond later', contentOf(3, { createdAtMicros: '1000004' }), '3 hash differs'],
    ['another id', contentOf(3, { id: idOf(8) }), '3 hash differs'],
    ['the link of another record', changed(3, (l) => ({ ...l, recordId: idOf(8) })), '3 hash differs'],
    ['a record deleted', changed(3, (l) => ({ ...l, content: null })), '3 record missing'],
    ['a link deleted', links.filter(({ seq }) => seq !== 3n), '4 out of order'],
    ['the first link deleted', links.slice(1), '2 out of order'],
    ['two links swapped', swapped, '3 out of order'],
    ['two links swapped and numbered anew', renumbered, '2 hash differs'],
    ['one put between', inserted, '4 hash differs'],
    ['the same link twice', links.toSpliced(2, 0, links[1] as ChainLink), '2 out of order'],
  ];
  for (const [name, tampered, found] of cases) t.equal(checked(tampered), found, name);
});

t.test('fields of a record cannot run into each other', async (t) => {
  const seals = [
    record(1, { ipAddress: 'a', userAgent: 'b' }),
    record(1, { ipAddress: 'ab', userAgent: '' }),
    record(1, { ipAddress: 'a","b', userAgent: '' }),
    record(1, { userId: null }),
    record(1, { userId: 'null' }),
  ].map((content) => sealOf(GENESIS, content));
  t.equal(new Set(seals).size, seals.length);
});

t.test('seals are stable, so that old ones stay verifiable', async (t) => {
  t.equal(
    sealOf(GENESIS, record(1, { details: 'text "🚢"\n' })),
    'e710554766b50b1ea26fa1b4be5cfbd4490b9c4012af5ee513a3f7e424668c53',
  );
});

t.test('a head is parsed as it is printed', async (t) => {
  const head = chain(3)[2] as ChainLink;
  t.same(parseHead(` ${headText(head)}\n`), { seq: 3n, hash: head.hash });
  for (const bad of [
    '',
    '3',
    `x:${head.hash}`,
    `3:${head.hash.slice(1)}`,
    `3:${head.hash}0`,
    `-3:${head.hash}`,
  ]) {
    t.equal(parseHead(bad), null, bad);
  }
});
