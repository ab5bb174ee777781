import t from 'tap';
import { AGAIN_AFTER_MS, sparingLog } from '../../../src/app/main/process/sparing-log.ts';

t.test('a lasting fault is logged when it begins, every few minutes, and when it ends', async (t) => {
  const lines: string[] = [];
  const write =
    (level: string) =>
    (first: object | string, message = ''): void => {
      lines.push(`${level} ${typeof first === 'string' ? first : message}`);
    };
  let nowMs = 0;
  const given = { info: write('info'), warn: write('warn'), error: write('error') };
  const log = sparingLog(given, () => nowMs);
  const logged = (): string[] => lines.splice(0);

  log.over('it answers');
  t.same(logged(), [], 'nothing was wrong');
  for (; nowMs < 2 * AGAIN_AFTER_MS; nowMs += 5_000) log.warn('no engine');
  t.same(logged(), ['warn no engine', 'warn no engine']);
  for (const err of [new Error('one'), new Error('one'), new Error('another')])
    log.error({ err }, 'not usable');
  t.same(logged(), ['error not usable', 'error not usable'], 'each fault');
  log.over('it answers');
  log.over('it answers');
  t.same(logged(), ['info it answers'], 'once');
  log.warn('no engine');
  t.same(logged(), ['warn no engine'], 'the next one is logged at once');
});
