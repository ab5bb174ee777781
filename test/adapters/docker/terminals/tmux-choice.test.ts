import { execFileSync } from 'node:child_process';
import t from 'tap';
import { CHOOSE_TMUX } from '../../../../src/adapters/docker/terminals/tmux-volume-scripts.ts';

/** Whether the image's own tmux is taken when it says that it is this version. There is no other here. */
function isTaken(version: string): boolean {
  const script = `${version === '' ? 'PATH=' : `tmux() { echo '${version}'; }`}
${CHOOSE_TMUX}
choose_tmux && echo own || :`;
  return execFileSync('sh', ['-c', script]).toString() === 'own\n';
}

t.test('an image brings its own tmux when it is new enough', async (t) => {
  const cases: readonly [string, boolean][] = [
    ['', false],
    ['said nothing', true],
    ['tmux 1.8', false],
    ['tmux 2.8', false],
    ['tmux 3.0a', false],
    ['tmux 3.1', false],
    ['tmux 3.1c', false],
    ['tmux 3.2', true],
    ['tmux 3.3a', true],
    ['tmux 3.10', true],
    ['tmux 4.0', true],
    ['tmux next-3.7', true],
  ];
  for (const [version, taken] of cases) t.equal(isTaken(version), taken, version);
});
