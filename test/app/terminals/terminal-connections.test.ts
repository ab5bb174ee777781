import t from 'tap';
import { connectionRecords, type LiveTerminal } from '../../../src/app/terminals/terminal-connections.ts';
import type { TerminalRecordRepository } from '../../../src/ports/terminals/terminal-record-repository.ts';

t.test('open terminals stay on record while the time of day is set back', async (t) => {
  let nowMs = 0;
  const terminal = { id: 'one', recordedAt: new Date(), lastPingAt: new Date(), wasPinged: true };
  const open = { all: () => [terminal as unknown as LiveTerminal], find: () => null };
  const written: number[] = [];
  let fails = false;
  const records = {
    resize: async () => {},
    ping: async (all: readonly unknown[]) => {
      if (fails) throw new Error('no answer');
      written.push(all.length);
    },
    remove: async () => {},
    sweep: async () => {},
  } as unknown as TerminalRecordRepository;
  const connections = connectionRecords(open, () => nowMs, 'here');
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    await connections.writeDue(records);
  };
  await pass(15_000);
  Object.assign(terminal, { lastPingAt: new Date(0), wasPinged: true });
  await pass(15_000);
  t.same(written, [1, 1], 'a ping counts whatever its time of day');
  await pass(15_000);
  t.equal(written.at(-1), 0, 'a silent client is not on record as there');
  terminal.wasPinged = true;
  fails = true;
  await t.rejects(pass(15_000));
  fails = false;
  await pass(0);
  t.equal(written.at(-1), 1, 'and a failed write is repeated');
});
