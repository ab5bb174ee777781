import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { aScene, signedIn } from '../../support/browser/memory-page.ts';
import { waitFor } from '../../support/patience.ts';
import { needs } from '../../support/run/infra.ts';
import { theCommand } from '../../support/service/command.ts';
import { aPerson } from '../../support/service/service.ts';

t.test('the line on the page installs the command, which signs in through the page', async (t) => {
  const scene = await aScene(t);
  const node = await needs(t, 'node20');
  if (scene === null || node === null) return;
  const { browser, paged } = scene;
  await aPerson(paged.service, 'ada');
  const { page } = await signedIn(browser, paged, 'ada', '/settings/tokens');
  const line = await page.locator('.command-line').first().innerText();
  const { home, env: own } = theCommand(t, null);
  // A machine with Node.js 20 and what every distribution has.
  const bin = path.join(home, 'bin');
  mkdirSync(bin);
  symlinkSync(node.program, path.join(bin, 'node'));
  const env = { ...own, PATH: `${bin}:${path.join(home, '.local/bin')}:/usr/bin:/bin` };
  const shell = spawn('bash', ['-c', line], { env, cwd: home });
  const [said, code] = await Promise.all([
    text(shell.stderr),
    new Promise((resolve) => shell.once('close', resolve)),
  ]);
  t.equal(code, 0, said);
  const forged = line.replace(/[0-9a-f]{64}/, '0'.repeat(64));
  const refused = spawn('bash', ['-c', forged], { env, cwd: home, stdio: 'ignore' });
  t.not(await new Promise((resolve) => refused.once('close', resolve)), 0, 'another file is not installed');

  const asked = `node --version; berth --version; berth doctor --server ${paged.address}`;
  const first = spawn('bash', ['-c', asked], { env, cwd: home });
  t.match(
    await text(first.stdout),
    /^v20\.\S+\n\d+\.\d+\.\d+\n[\s\S]*answered in[\s\S]*not signed in: berth login/,
  );

  const installed = theCommand(t, paged.address, undefined, path.join(home, '.local/bin/berth'));
  const login = installed.start(['login']);
  const link = () => /^Code {2}(\S+)$/m.exec(login.stderr())?.[1];
  await waitFor(() => link() !== undefined);
  await page.goto(`${paged.address}/device`);
  await page.fill('[name=user_code]', link() ?? '');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign in the program' }).click();
  await page.getByText('The program is signed in').waitFor();
  paged.clock.advance(2_000);
  t.match(await login.ended, { code: 0, stderr: /Signed in to .* as ada/ });
  t.match(await installed.run(['ls']), { code: 0, stderr: /No containers/ });
});
