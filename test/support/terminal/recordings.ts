import headless, { type IBuffer, type Terminal } from '@xterm/headless';
import type { Test } from 'tap';
import { memoryRecordingFiles } from '../../../src/adapters/memory/terminals/recording-files.ts';
import { GraphemesAddon } from '../../../src/adapters/xterm/graphemes.ts';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import type { TerminalSize } from '../../../src/domain/terminals/terminal.ts';
import { guardParser } from '../../../web/src/terminal/screen/parser-guard.ts';
import { aPerson, aService, as } from '../service/service.ts';
import { terminalClient } from './terminal-client.ts';
import { aContainerOf, type FakePty, fakeTerminals, listening } from './terminals.ts';

type CastEvent = readonly [seconds: number, kind: string, data: string];

/** Header and events of a recording's text; throws when a line of it is none. */
export function castOf(text: string): { header: Record<string, unknown>; events: readonly CastEvent[] } {
  if (!text.endsWith('\n')) throw new Error(`the last line is cut: ${text.slice(-80)}`);
  const [header, ...events] = text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
  return { header, events };
}

/** All output of a recording. */
export const shown = (text: string): string =>
  castOf(text)
    .events.filter(([, kind]) => kind === 'o')
    .map(([, , data]) => data)
    .join('');

/** A terminal that a recording is played on, as its output says. */
export async function played(text: string) {
  const { header, events } = castOf(text);
  const screen = aBrowserTerminal({ cols: Number(header['width']), rows: Number(header['height']) });
  for (const [, kind, data] of events) if (kind === 'o') await screen.write(data);
  return screen;
}

/** The text of the rows of a terminal's screen, without the empty ones at its end. */
export function rowsOf({ terminal }: ReturnType<typeof aBrowserTerminal>): string[] {
  const { active } = terminal.buffer;
  const rows = Array.from(
    { length: terminal.rows },
    (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
  );
  return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1);
}

/** A service with a running container of Ada's, whose programs do what the test says. */
export async function aStudio(t: Test, { muxed = false, ports = {} as Partial<Ports> } = {}) {
  let nowMs = 0;
  const backend = fakeTerminals({ muxed });
  const files = memoryRecordingFiles();
  const all = { terminalBackend: backend, recordingFiles: files, monotonicMs: () => nowMs, ...ports };
  const service = await aService(all);
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const address = await listening(t, service);
  const at = { address, dbId, token: ada.token };
  const call = as(service, ada);
  return {
    service,
    address,
    ada,
    dbId,
    files,
    backend,
    call,
    open: (query: Record<string, string | number> = {}) => terminalClient(at, query),
    pty: (index = -1): FakePty => {
      const pty = backend.opened.at(index);
      if (pty === undefined) throw new Error('nothing was opened');
      return pty;
    },
    record: (body: object = {}) => call('POST', `/api/containers/${dbId}/recordings`, body),
    cast: async (id: string) => (await call('GET', `/api/recordings/${id}/cast`)).body,
    /** Time goes by, and what is due then is done. */
    pass: async (ms: number) => {
      nowMs += ms;
      await service.writeDue();
    },
  };
}

/** A terminal as the browser has it, but for the window. */
export function aBrowserTerminal({ cols, rows }: TerminalSize, scrollback = 1_000) {
  const terminal = new headless.Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: 'off' });
  guardParser(terminal);
  terminal.loadAddon(new GraphemesAddon());
  const answers: string[] = [];
  terminal.onData((answer) => answers.push(answer));
  return {
    terminal,
    answers,
    write: (bytes: string | Uint8Array) => new Promise<void>((resolve) => terminal.write(bytes, resolve)),
    looks: () => looksOf(terminal),
  };
}

/** All that can be seen and felt of a terminal. */
function looksOf({ buffer, modes }: Terminal) {
  const { cursorX, cursorY, type } = buffer.active;
  return {
    cursor: [cursorX, cursorY],
    type,
    modes,
    lines: linesOf(buffer.active),
    normal: linesOf(buffer.normal),
  };
}

/** Without the empty ones at the end: how many there are tells nothing. */
function linesOf(buffer: IBuffer): string[] {
  const lines = Array.from({ length: buffer.length }, (_, at) => {
    const line = buffer.getLine(at);
    const cells = Array.from({ length: line?.length ?? 0 }, (_, column) => {
      const cell = line?.getCell(column);
      if (cell === undefined) return '';
      const isBare = cell.getChars().trim() === '';
      const flags = [cell.isBold(), cell.isItalic(), cell.isInverse(), cell.isUnderline()].map(Boolean);
      const pen = isBare ? '' : `${cell.getFgColorMode()}.${cell.getFgColor()}.${flags}`;
      return `${isBare ? ' ' : cell.getChars()}|${cell.getWidth()}|${cell.getBgColorMode()}.${cell.getBgColor()}|${pen}`;
    });
    return cells.join('\n');
  });
  return lines;
}
