import { type PagedService, test } from '../../../support/browser/memory-page.ts';
import { openPage } from '../../../support/browser/page.ts';
import { from } from '../../../support/service/factors.ts';
import { aPerson } from '../../../support/service/service.ts';

const START = '/api/auth/device';

async function aProgram({ service, address, clock }: PagedService) {
  const ask = from(service, { ip: '192.0.2.7', userAgent: 'berth/1.0' });
  const { user_code, device_code } = (await ask(START, { machine: 'ada@laptop' })).json();
  return {
    code: user_code as string,
    link: `${address}/device#code=${user_code}`,
    async poll(): Promise<number> {
      clock.advance(2_000);
      return (await ask(`${START}/token`, { device_code })).statusCode;
    },
  };
}

test('a program is signed in from the page by its link, and another refused by a typed code', async (t, browser, paged) => {
  await aPerson(paged.service, 'ada');
  const program = await aProgram(paged);
  const { page } = await openPage(browser);
  await page.goto(program.link);
  await page.fill('[name=email]', 'ada');
  await page.fill('[name=password]', 'correct horse battery');
  await page.keyboard.press('Enter');
  await page.getByText('ada@laptop').waitFor();
  t.match(await page.locator('.device-facts').innerText(), /192\.0\.2\.7[\s\S]*berth\/1\.0/);
  t.equal(await page.locator('.device-code').innerText(), program.code);
  t.notOk(page.url().includes(program.code), 'the code is gone from the address bar');
  t.equal(await program.poll(), 400, 'opening the link confirms nothing');
  await page.getByRole('button', { name: 'Sign in the program' }).click();
  await page.getByText('The program is signed in').waitFor();
  t.equal(await program.poll(), 200);

  const refused = await aProgram(paged);
  await page.goto(`${paged.address}/device`);
  await page.fill('[name=user_code]', 'BCDF-GHJK');
  await page.keyboard.press('Enter');
  await page.getByText('No program is waiting for this code').waitFor();
  await page.fill('[name=user_code]', refused.code.toLowerCase());
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByText('The program was refused').waitFor();
  t.equal(await refused.poll(), 403);
});
