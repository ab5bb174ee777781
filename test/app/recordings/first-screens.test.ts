import { randomUUID } from 'node:crypto';
import t from 'tap';
import { memoryPorts } from '../../../src/adapters/memory/index.ts';
import { memoryRecordingFiles } from '../../../src/adapters/memory/terminals/recording-files.ts';
import { ActiveRecordings } from '../../../src/app/recordings/active-recordings.ts';
import type { TerminalStream } from '../../../src/app/terminals/output/terminal-stream.ts';
import type { LiveTerminal } from '../../../src/app/terminals/terminal-connections.ts';
import { terminalKey } from '../../../src/domain/terminals/terminal.ts';
import { waitFor } from '../../support/patience.ts';
import { silentLog } from '../../support/samples/samples.ts';

t.test("of a user's recordings one first screen is drawn at a time", async (t) => {
  const { storage, clock } = memoryPorts();
  const live = new ActiveRecordings({
    storage,
    files: memoryRecordingFiles(),
    clock,
    monotonicMs: () => 0,
    log: silentLog,
    replica: randomUUID(),
    messages: { publishNotice: () => {} },
  });
  const drawing: string[] = [];
  let most = 0;
  const gate = Promise.withResolvers<void>();
  const begin = (userId: string, connectionId: string) => {
    const key = terminalKey('r', userId, connectionId);
    const stream = {
      async recordingSnapshot() {
        drawing.push(userId);
        most = Math.max(most, drawing.filter((one) => one === userId).length);
        await gate.promise;
        drawing.splice(drawing.indexOf(userId), 1);
        return null;
      },
      bufferedRange: () => ({ start: 0, end: 0 }),
      range: () => Buffer.alloc(0),
      tap: () => {},
    } as unknown as TerminalStream;
    live.opened(key, stream);
    const terminal = { key, userId, dbId: randomUUID(), connectionId, cols: 80, rows: 24 } as LiveTerminal;
    const origin = { ipAddress: '192.0.2.1', userAgent: '' };
    return live.begin(terminal, { containerName: 'dev', origin, includesBuffered: false });
  };
  const begun = [begin('ada', 'one'), begin('ada', 'two'), begin('ada', 'three'), begin('bob', 'one')];
  await waitFor(() => drawing.includes('bob'));
  gate.resolve();
  for (const one of await Promise.all(begun)) t.ok(one.ok);
  t.equal(most, 1);
});
