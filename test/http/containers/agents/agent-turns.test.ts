import t from 'tap';
import { OPENING_LIMITS } from '../../../../src/domain/fair-queue.ts';
import { aMachine, connectMachine } from '../../../support/agent/scripted-agent.ts';
import { waitFor } from '../../../support/patience.ts';
import { anApiToken, aPerson, aService, as } from '../../../support/service/service.ts';
import { aContainerOf, listening, openTerminal } from '../../../support/terminal/terminals.ts';

t.test('terminals of an agent that answers nothing delay no terminal of a container', async (t) => {
  const service = await aService();
  const address = await listening(t, service);
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const machine = Object.assign(aMachine(), { isSilent: true });
  await connectMachine(address, (await anApiToken(service, ada)).token, machine);
  for (let pane = 0; pane < OPENING_LIMITS.perUser; pane += 1)
    void openTerminal(address, machine.id, ada, `pane-${pane}`);
  await waitFor(() => machine.asked.length === OPENING_LIMITS.perUser);
  const terminal = await openTerminal(address, dbId, ada);
  t.ok(await terminal.alive());
  await as(service, ada)('DELETE', `/api/containers/agent:${machine.id}`);
});
