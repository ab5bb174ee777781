import t, { type Test } from 'tap';
import { waitFor } from '../support/patience.ts';
import { aStudio, shown } from '../support/terminal/recordings.ts';
import { fakeTerminals } from '../support/terminal/terminals.ts';

/** Programs that go on after they were told to end; the first one opens only when the test says so. */
async function aSlowStudio(t: Test, { firstWaits }: { firstWaits: boolean }) {
  const programs = fakeTerminals();
  const first = Promise.withResolvers<void>();
  if (!firstWaits) first.resolve();
  let asked = 0;
  const terminalBackend = {
    ...programs,
    async open(...args: Parameters<typeof programs.open>) {
      asked += 1;
      if (asked === 1) await first.promise;
      return { ...(await programs.open(...args)), close: async () => {} };
    },
  };
  const studio = await aStudio(t, { ports: { terminalBackend } });
  return { ...studio, programs, asked: () => asked, letFirst: () => first.resolve() };
}

t.test('a program that opens too late takes no recording with it', async (t) => {
  const { open, asked, letFirst, programs, record, call, cast } = await aSlowStudio(t, {
    firstWaits: true,
  });
  const late = open().catch((error: unknown) => String(error));
  await waitFor(() => asked() === 1);
  const client = await open({ new: 'true' });
  t.match(await late, /replaced|closed before/);
  const { id } = (await record()).json();
  letFirst();
  await waitFor(() => programs.opened.length === 2);
  programs.opened[0]?.say('this');
  await client.until(() => client.output().toString() === 'this');
  await call('POST', `/api/recordings/${id}/stop`);
  t.equal(shown(await cast(id)), 'this');
});

t.test('what a program says while it ends is not recorded between what the next one shows', async (t) => {
  const { open, programs, record, call, cast, service } = await aSlowStudio(t, { firstWaits: false });
  const first = await open();
  const { id } = (await record()).json();
  programs.opened[0]?.say('one');
  await first.until(() => first.output().toString() === 'one');
  first.socket.terminate();
  await waitFor(() => service.terminals.count() === 0);
  const second = await open();
  programs.opened[0]?.say('[lost tty]');
  programs.opened[1]?.say('two');
  await second.until(() => second.output().toString() === 'two');
  await call('POST', `/api/recordings/${id}/stop`);
  t.equal(shown(await cast(id)), 'one\x1bctwo');
});

t.test('a recording that has no room for what is held is told to have ended last', async (t) => {
  const { open, pty, service } = await aStudio(t);
  await service.ports.storage.repositories.settings.change({ recordingsMbPerUser: 1 });
  const told: unknown[] = [];
  service.ports.bus.subscribe(
    'recordings',
    ({ on }) => told.push(on),
    () => {},
  );
  const first = await open();
  pty().say('x'.repeat(1_500_000));
  await first.until(() => first.output().length === 1_500_000);
  first.socket.terminate();
  await waitFor(() => service.terminals.count() === 0);
  await open({ record: 'true' });
  t.same(told, [true, false]);
});
