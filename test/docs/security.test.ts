import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { mintToken, TOKEN_RANDOM_BYTES } from '../../src/domain/identity/token.ts';

const text = readFileSync('docs/security.md', 'utf8');

t.test('the expression for scanners finds every API token, and little else', async (t) => {
  const expression = new RegExp(/\n```\n(svc_.*)\n```/.exec(text)?.[1] ?? 'missing', 'g');
  for (let n = 0; n < 100; n += 1) {
    const { secret } = mintToken(randomBytes(TOKEN_RANDOM_BYTES));
    t.same(`TOKEN="${secret}" # note`.match(expression), [secret]);
  }
  for (const other of [
    'svc_0123456789ab',
    `svc_${'x'.repeat(64)}`,
    `SVC_${'0'.repeat(64)}`,
    `svc_${'0'.repeat(63)}`,
  ]) {
    t.equal(other.match(expression), null, other);
  }
});

t.test('pages that the text points to are there', async (t) => {
  for (const [, page] of text.matchAll(/\]\(([\w-]+\.md)\)/g)) {
    t.ok(readFileSync(`docs/${page}`, 'utf8').length > 0, page ?? '');
  }
});
