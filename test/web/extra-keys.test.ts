import t from 'tap';
import { visibleArea } from '../../web/src/lib/browser/visible-area.ts';
import { type BarKey, EXTRA_KEYS, sequenceOf } from '../../web/src/terminal/keys/extra-keys.ts';
import {
  afterKey,
  isTyped,
  type Latch,
  type Modifiers,
  modified,
  NO_MODIFIERS,
  pressModifier,
} from '../../web/src/terminal/keys/modifiers.ts';
import { fittedFont, offsetFor, type Zoom, zoomOf } from '../../web/src/terminal/screen/zoom.ts';

const CTRL: Modifiers = { ctrl: 'once', alt: 'off' };
const ALT: Modifiers = { ctrl: 'off', alt: 'once' };
const BOTH: Modifiers = { ctrl: 'locked', alt: 'once' };

t.test('typed text is changed by Ctrl and Alt as keyboards do', async (t) => {
  const cases: [string, Modifiers, string][] = [
    ['c', NO_MODIFIERS, 'c'],
    ['c', CTRL, '\x03'],
    ['C', CTRL, '\x03'],
    [' ', CTRL, '\x00'],
    ['[', CTRL, '\x1b'],
    ['|', CTRL, '\x1c'],
    ['/', CTRL, '\x1f'],
    ['?', CTRL, '\x7f'],
    ['ü', CTRL, 'ü'],
    ['c', ALT, '\x1bc'],
    ['\x7f', ALT, '\x1b\x7f'],
    ['c', BOTH, '\x1b\x03'],
    ['cd', CTRL, '\x03d'],
  ];
  for (const [text, modifiers, sent] of cases)
    t.equal(modified(text, modifiers), sent, `${JSON.stringify(text)} ${JSON.stringify(modifiers)}`);
  t.ok(isTyped('c'));
  t.notOk(isTyped('\x1b[<0;3;4M'), 'a report of the mouse');
});

t.test('a modifier is for one key, locked by a second press and off by a third', async (t) => {
  const presses: Latch[] = [];
  let now = NO_MODIFIERS;
  for (let press = 0; press < 3; press += 1) {
    now = pressModifier(now, 'ctrl');
    presses.push(now.ctrl);
  }
  t.same(presses, ['once', 'locked', 'off']);
  t.same(afterKey(BOTH), { ctrl: 'locked', alt: 'off' });
});

const keyNamed = (name: string): Parameters<typeof sequenceOf>[0] => {
  const key = EXTRA_KEYS.flat().find((each: BarKey) => each.name.toLowerCase().endsWith(name.toLowerCase()));
  if (key === undefined || key.kind === 'modifier' || key.kind === 'paste') throw new Error(name);
  return key;
};

t.test('extra keys send what keyboards send', async (t) => {
  const cases: [string, Modifiers, string][] = [
    ['Escape', NO_MODIFIERS, '\x1b'],
    ['Shift+Tab', NO_MODIFIERS, '\x1b[Z'],
    ['Interrupt', NO_MODIFIERS, '\x03'],
    ['Pipe', ALT, '\x1b|'],
    ['Up', NO_MODIFIERS, '\x1b[A'],
    ['Right', CTRL, '\x1b[1;5C'],
    ['Left', ALT, '\x1b[1;3D'],
    ['Home', BOTH, '\x1b[1;7H'],
    ['End', NO_MODIFIERS, '\x1b[F'],
    ['Page up', NO_MODIFIERS, '\x1b[5~'],
    ['Page down', CTRL, '\x1b[6;5~'],
    ['Delete', NO_MODIFIERS, '\x1b[3~'],
  ];
  for (const [name, modifiers, sent] of cases)
    t.equal(sequenceOf(keyNamed(name), modifiers, false), sent, `${name} ${JSON.stringify(modifiers)}`);
  t.equal(sequenceOf(keyNamed('Up'), NO_MODIFIERS, true), '\x1bOA', 'programs may ask for another form');
  t.equal(sequenceOf(keyNamed('Up'), CTRL, true), '\x1b[1;5A', 'which has no modifiers');
  const [first, second] = EXTRA_KEYS;
  t.equal(first?.length, second?.length, 'the rows are of equal length');
});

t.test('all of a shared screen is shown where it can be read, else at the usual size', async (t) => {
  const cases: [fitsPx: number, chosen: Zoom | undefined, Zoom | null][] = [
    [14, undefined, null],
    [14, 'fit', null],
    [9, undefined, 'fit'],
    [8.9, undefined, 'full'],
    [3.8, 'fit', 'fit'],
    [12, 'full', 'full'],
  ];
  for (const [fitsPx, chosen, zoom] of cases)
    t.equal(zoomOf(fitsPx, 14, chosen), zoom, `${fitsPx} ${chosen}`);
  t.equal(fittedFont(3.8, 14), 3.5);
  t.equal(fittedFont(20, 14), 14);
});

t.test('a screen is scrolled no further than its cursor needs', async (t) => {
  const seen = { from: 100, length: 50 };
  t.equal(offsetFor({ from: 120, length: 10 }, seen), 100);
  t.equal(offsetFor({ from: 90, length: 10 }, seen), 90);
  t.equal(offsetFor({ from: 145, length: 10 }, seen), 105);
});

t.test('only an on-screen keyboard makes the visible area smaller, not a zoom', async (t) => {
  const viewport = (scale: number, height: number, offsetTop: number) => ({ scale, height, offsetTop });
  t.equal(visibleArea(viewport(1, 844, 0), 844), null);
  t.same(visibleArea(viewport(1, 508.4, 0), 844), { top: 0, height: 508 });
  t.same(visibleArea(viewport(1, 508, 120.6), 844), { top: 121, height: 508 });
  t.equal(visibleArea(viewport(2, 422, 50), 844), null);
});
