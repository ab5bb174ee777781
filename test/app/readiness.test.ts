import t from 'tap';
import { type Parts, readinessOf } from '../../src/app/main/readiness.ts';

const up = { status: 'ready', detail: 'there' } as const;
const none = { status: 'degraded', detail: 'none', mend: 'start one' } as const;
const coming = { status: 'down', detail: 'is being prepared' } as const;
const answers = async (): Promise<void> => {};
const silent = async (): Promise<never> => {
  throw new Error('no answer');
};

t.test('the whole is as good as its parts, and a part that has gone silent is said', async (t) => {
  const cases: [string, Parts, typeof answers, typeof answers, string, string][] = [
    ['all there', { engine: up, image: up, disk: up, isolation: up }, answers, answers, 'ready', 'ready'],
    ['no database', { engine: up, image: up, disk: up, isolation: up }, silent, answers, 'unready', 'ready'],
    [
      'no engine, and known',
      { engine: none, image: none, disk: up, isolation: up },
      answers,
      silent,
      'degraded',
      'degraded',
    ],
    [
      'the engine died since',
      { engine: up, image: up, disk: up, isolation: up },
      answers,
      silent,
      'degraded',
      'degraded',
    ],
    [
      'the image is on its way',
      { engine: up, image: coming, disk: up, isolation: up },
      answers,
      answers,
      'unready',
      'ready',
    ],
    [
      'containers are not shut off',
      { engine: up, image: up, disk: up, isolation: none },
      answers,
      answers,
      'degraded',
      'ready',
    ],
    [
      'no size can be kept',
      { engine: up, image: up, disk: none, isolation: up },
      answers,
      answers,
      'degraded',
      'ready',
    ],
    [
      'the image failed',
      { engine: up, image: none, disk: up, isolation: up },
      answers,
      answers,
      'degraded',
      'ready',
    ],
  ];
  for (const [name, parts, database, engine, status, engineStatus] of cases) {
    const state = await readinessOf(parts, { database, engine });
    t.match(state, { status, parts: { engine: { status: engineStatus } } }, name);
    if (engineStatus === 'degraded') t.type(state.parts.engine.mend, 'string', `${name}: what mends it`);
  }
});
