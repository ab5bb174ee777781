import t from 'tap';
import { theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { listening } from '../support/terminal/terminals.ts';

t.test('an older command says so, once for each version of the service', async (t) => {
  const service = await aService({}, { version: '99.0.0' });
  const server = (await listening(t, service)).replace('ws', 'http');
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  const { run } = theCommand(t, server, token);
  const note = `The service has version 99.0.0, this command 0.0.0. Install it again from ${server}/settings/tokens`;
  t.match((await run(['ls'])).stderr, note);
  t.notMatch((await run(['ls'])).stderr, 'Install it again');
  t.match((await run(['doctor'])).stdout, /versions +warning +.*install the command again/);
});
