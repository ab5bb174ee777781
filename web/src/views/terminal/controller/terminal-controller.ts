import { platformSocket } from '../../../../../src/client/socket/socket.ts';
import { Connection } from '../../../../../src/client/terminal/connection.ts';
import type { ConnectionTarget } from '../../../../../src/client/terminal/connection-types.ts';
import type { Resumed } from '../../../../../src/client/terminal/resume.ts';
import { fontSizePx, isDark, screenReader } from '../../../lib/browser/preferences.ts';
import { lazyImport } from '../../../lib/lazy-import.ts';
import { loginToken } from '../../../session/session.ts';
import { OutputGate } from '../../../terminal/output-gate.ts';
import { outputQueue } from '../../../terminal/output-queue.ts';
import type { Appearance, Screen } from '../../../terminal/screen/screen.ts';
import { connectionListener } from './connection-listener.ts';
import { probe } from './refusal-probe.ts';
import { screenListener, type TerminalKeys } from './screen-listener.ts';
import { makeView, type TerminalView } from './terminal-view.ts';

export type TerminalController = TerminalView & {
  readonly screen: Screen;
  /** Connects for the first time, or again after the end. */
  open(fresh: boolean): void;
  nudge(): void;
  /** The browser says that it is offline. */
  doubt(): void;
  type(text: string): void;
  /** `final`: the terminal is no longer needed. */
  dispose(final: boolean): void;
};

export type TerminalTarget = Omit<ConnectionTarget, 'size'>;
/** Leaves mouse and other modes of a program that is gone; its output stays. */
const LEAVE_MODES = '\x1b[!p\x1b[?1000;1002;1003;1006;2004l\r\n';
const LEAVE_FULL_SCREEN = '\x1b[?1049l';
const FULL_RESET = '\x1bc';

/** How the user wants terminals to look in this browser. */
export const preferredAppearance = (): Appearance => ({
  dark: isDark(),
  fontPx: fontSizePx.value,
  screenReader: screenReader.value,
});

/** A screen in `host` and its connection. Resolves when the screen fits; `open` connects it. */
export async function terminalController(
  target: TerminalTarget,
  host: HTMLElement,
  keys: TerminalKeys,
): Promise<TerminalController> {
  const view = makeView();
  const { openScreen } = await lazyImport(() => import('../../../terminal/screen/screen.ts'));
  const screen = await openScreen(host, preferredAppearance(), {
    ...screenListener(
      view,
      () => connection,
      () => gate,
    ),
    ...keys,
  });
  view.size.value = screen.size();
  const output = outputQueue(
    (data, done) => screen.terminal.write(data, done),
    () => connection,
  );
  const gate = new OutputGate(output);
  const say = (text: string): void => output.push(new TextEncoder().encode(text));
  const onResumed = (how: Resumed): void => {
    if (how === 'redraw') say(FULL_RESET);
    if (how === 'exact' || how === 'redraw' || !view.everOpen.value) return;
    const fullScreen = screen.terminal.buffer.active.type === 'alternate';
    say(fullScreen ? LEAVE_FULL_SCREEN + LEAVE_MODES : LEAVE_MODES);
  };
  const connection = new Connection(
    { ...target, size: screen.size() },
    {
      origin: location.origin.replace(/^http/, 'ws'),
      openSocket: platformSocket,
      token: loginToken,
      probe: () => probe(target.containerId),
    },
    connectionListener(view, screen, gate, onResumed),
  );
  return {
    ...view,
    screen,
    open(fresh) {
      if (view.connection.value === null) connection.open();
      else connection.reopen(fresh);
    },
    nudge: () => connection.nudge(),
    doubt: () => connection.doubt(),
    type: (text) => screen.terminal.input(text),
    dispose(final) {
      if (final) connection.close();
      else connection.suspend();
      screen.dispose();
    },
  };
}
