import t from 'tap';
import { BerthError } from '../../web/src/api/errors.ts';
import { explain } from '../../web/src/api/explain.ts';
import { leaveFor, linkCode } from '../../web/src/lib/browser/link-code.ts';
import { returnIn } from '../../web/src/state/provider-return.ts';

const readFrom = (hash: string) => returnIn(new URLSearchParams(hash));

t.test('the page of the provider shows no text from its address', async (t) => {
  for (const code of ['provider_denied', 'provider_unavailable', 'rate_limited']) {
    t.same(readFrom(`refused=${code}`), { kind: 'refused', code });
  }
  for (const text of ['Your account was locked. Call 555', '', 'account_disabled', 'toString']) {
    const shown = readFrom(new URLSearchParams({ refused: text }).toString());
    t.same(shown, { kind: 'refused', code: 'provider_rejected' }, text);
  }
});

t.test('every refusal of the provider has words that say what to do', async (t) => {
  for (const code of ['provider_sign_in_expired', 'provider_not_set_up', 'provider_rejected']) {
    t.not(explain(new BerthError(0, code, code)).title, code);
  }
});

t.test('after a sign-in the page goes to a path of its own', async (t) => {
  const paths = {
    '/device': '/device',
    '//evil.example.org': '/',
    '/\\evil.example.org': '/',
    'https://x': '/',
  };
  for (const [to, returnPath] of Object.entries(paths)) {
    const hash = new URLSearchParams({ arrived: 'a', purpose: 'sign_in', return: to }).toString();
    t.same(readFrom(hash), { kind: 'arrived', id: 'a', purpose: 'sign_in', returnPath }, to);
  }
  for (const hash of ['arrived=a&purpose=other', 'purpose=link', '']) t.equal(readFrom(hash), null, hash);
});

/** A tab of a browser, at an address; what it stores outlasts the page. */
function aTab(at: string, kept = new Map<string, string>()) {
  const tab = { kept, events: new EventTarget(), left: '', shown: at };
  const { href, pathname, hash } = new URL(at, 'https://berth.example.org');
  Object.assign(globalThis, {
    location: {
      href,
      pathname,
      hash,
      assign: (to: string) => Object.assign(tab, { left: to }),
      replace: (to: string) => Object.assign(tab, { left: to }),
    },
    history: {
      replaceState: (_state: unknown, _title: string, to = tab.shown) => Object.assign(tab, { shown: to }),
    },
    scrollY: 0,
    scrollTo: () => {},
    sessionStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
      removeItem: (key: string) => kept.delete(key),
    },
    addEventListener: tab.events.addEventListener.bind(tab.events),
  });
  return tab;
}

t.test('a code that waits outlasts a sign-in at the provider, once', async (t) => {
  const before = aTab('/device#code=BCDF-GHJK');
  const first = linkCode('/device');
  first.start();
  t.equal(before.shown, '/device');
  t.equal(before.kept.size, 0, 'not stored while the page is there');
  leaveFor('/api/auth/oidc/start');
  t.equal(before.left, '/api/auth/oidc/start');
  t.same([...before.kept.values()], ['BCDF-GHJK']);

  const after = aTab('/sign-in/provider#arrived=a', before.kept);
  const next = linkCode('/device');
  next.start();
  t.equal(after.kept.size, 0, 'taken out at once');
  t.equal(next.take(), 'BCDF-GHJK');
  t.equal(next.take(), '');
  const other = linkCode('/join');
  other.start();
  t.equal(other.take(), '', 'a code is for its own path');
});

t.test('a newer link counts, and "Back" leaves nothing stored', async (t) => {
  const kept = new Map([['berth.link_code./device', 'OLDC-ODEX']]);
  const tab = aTab('/device#code=BCDF-GHJK', kept);
  const code = linkCode('/device');
  code.start();
  leaveFor('/');
  t.equal(kept.size, 1);
  tab.events.dispatchEvent(new Event('pageshow'));
  t.equal(kept.size, 0);
  t.equal(code.take(), 'BCDF-GHJK');
});

t.test('a code in use waits again only if the browser leaves meanwhile', async (t) => {
  const { kept } = aTab('/device');
  const code = linkCode('/device');
  code.start();
  const release = code.hold('BCDF-GHJK');
  leaveFor('/');
  t.same([...kept.values()], ['BCDF-GHJK']);
  release();
  leaveFor('/');
  t.equal(kept.size, 0);
  t.notOk(code.waits());
});

t.test('after a sign-in a page that is a document of its own is loaded', async (t) => {
  const tab = aTab('/sign-in/provider');
  const { go } = await import('../../web/src/lib/browser/router.ts');
  go('/settings/security', { replace: true });
  t.match(tab, { shown: '/settings/security', left: '' });
  go('/recordings/1', { replace: true });
  t.match(tab, { shown: '/settings/security', left: '/recordings/1' });
});
