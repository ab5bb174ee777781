import { type Signal, signal } from '@preact/signals';
import { platformSocket } from '../../../../src/client/socket/socket.ts';
import { Connection } from '../../../../src/client/terminal/connection.ts';
import {
  type ConnectionListener,
  type ConnectionState,
  type ConnectionTarget,
  HEALTHY,
  type LineHealth,
} from '../../../../src/client/terminal/connection-types.ts';
import type { Resumed } from '../../../../src/client/terminal/resume.ts';
import type { EndReason, Size } from '../../../../src/client/terminal/terminal-protocol.ts';
import type { Participant, ServerFrame } from '../../../../src/protocol/terminal-frames.ts';
import { copyText } from '../../lib/browser/clipboard.ts';
import { fontSizePx, isDark, screenReader } from '../../lib/browser/preferences.ts';
import { lazyImport } from '../../lib/lazy-import.ts';
import { loginToken } from '../../session/session.ts';
import { programsMayCopy } from '../../state/clipboard-permission.ts';
import {
  afterKey,
  isAny,
  isTyped,
  type Modifiers,
  modified,
  NO_MODIFIERS,
} from '../../terminal/keys/modifiers.ts';
import type { InnerLink } from '../../terminal/links.ts';
import { OutputGate } from '../../terminal/output-gate.ts';
import { outputQueue } from '../../terminal/output-queue.ts';
import { decideCopy } from '../../terminal/program-copy.ts';
import type { Appearance, Screen, ScreenListener } from '../../terminal/screen/screen.ts';
import type { Found } from '../../terminal/screen/search.ts';
import type { Zoom } from '../../terminal/screen/zoom.ts';
import { plainTitle } from '../../terminal/titles.ts';
import { probe } from './refusal-probe.ts';

export type TerminalView = Readonly<ReturnType<typeof makeView>>;

export type TerminalController = TerminalView & {
  readonly screen: Screen;
  /** Connects for the first time, or again after the end. */
  open(fresh: boolean): void;
  nudge(): void;
  /** The browser says that it is offline. */
  doubt(): void;
  type(text: string): void;
  /** `final`: it is no longer needed. */
  dispose(final: boolean): void;
};

export type TerminalTarget = Omit<ConnectionTarget, 'size'>;
export type TerminalKeys = Pick<ScreenListener, 'action' | 'severalPanes'>;

/** Leaves mouse and other modes of a program that is gone; its output stays. */
const LEAVE_MODES = '\x1b[!p\x1b[?1000;1002;1003;1006;2004l\r\n';
const LEAVE_FULL_SCREEN = '\x1b[?1049l';
const FULL_RESET = '\x1bc';

/** What the page shows around a terminal. */
const makeView = () => ({
  connection: signal<ConnectionState | null>(null),
  health: signal<LineHealth>(HEALTHY),
  /** Whether a shell has been on the screen. */
  everOpen: signal(false),
  size: signal<Size | null>(null),
  title: signal(''),
  latencyMs: signal<number | null>(null),
  found: signal<Found | null>(null),
  link: signal<string | null>(null),
  /** An address in the container whose link was pressed, until that is answered. */
  innerLink: signal<InnerLink | null>(null),
  /** The text that a program wants to copy, until it is copied or dismissed; a newer text takes its place. */
  copyOffer: signal<string | null>(null),
  notice: signal<string | null>(null),
  /** Whether it is a plain shell because tmux could not start, until the note is dismissed. */
  plainShell: signal(false),
  readOnly: signal(false),
  /** Whether it is the user's own terminal, not one that another user shares. */
  isOwner: signal(true),
  /** Who has it open, when it is shared. */
  people: signal<readonly Participant[]>([]),
  /** Whether another window decides the size. */
  ruled: signal(false),
  /** How a shared screen is shown that is larger than this window; null where there is nothing to choose. */
  zoom: signal<Zoom | null>(null),
  /** The latched keys of the on-screen bar. */
  modifiers: signal<Modifiers>(NO_MODIFIERS),
  /** Id of the recording of this terminal; null for none. */
  recording: signal<string | null>(null),
});

type RuledSize = { readonly [S in keyof Size]: number | null };

function rule(view: TerminalView, screen: Screen, { cols, rows }: RuledSize): void {
  const size = cols === null || rows === null ? undefined : { cols, rows };
  view.ruled.value = size !== undefined;
  screen.fit(size);
}

/** The note of a plain shell says the same, and stays. */
const OF_A_PLAIN_SHELL = /^tmux could not start/;

function onFrame(view: TerminalView, screen: Screen, frame: ServerFrame): void {
  if (frame.type === 'pong') view.latencyMs.value = Math.max(0, Math.round(performance.now() - frame.t));
  else if (frame.type === 'notice')
    view.notice.value = OF_A_PLAIN_SHELL.test(frame.message) ? null : frame.message;
  else if (frame.type === 'participants') view.people.value = frame.participants;
  else if (frame.type === 'size') rule(view, screen, frame);
  else if (frame.type === 'recording') view.recording.value = frame.on ? frame.id : null;
  else if (frame.type === 'on_screen') screen.scrollback.answered(frame);
  else if (frame.type === 'redrawn') screen.scrollback.redrawn(frame.id);
}

/** Carries out, offers or ignores what a program wants to copy. */
function copyFor(view: TerminalView, selection: string, text: string): void {
  const [isOwner, isAllowed] = [view.isOwner.value, programsMayCopy()];
  const decision = decideCopy({ selection, text, isOwner, isAllowed });
  const offer = (): void => {
    view.copyOffer.value = text;
  };
  if (decision === 'ask') offer();
  // why: some browsers copy on a click alone
  if (decision === 'write') void copyText(text).then((done) => done || offer());
}

/** Uses up the modifiers that are for one key. */
function modifiedBy(modifiers: Signal<Modifiers>, input: string): string {
  const before = modifiers.peek();
  if (!isAny(before) || !isTyped(input)) return input;
  modifiers.value = afterKey(before);
  return modified(input, before);
}

/** The connection and the gate are made after the screen. */
const screenListener = (
  view: TerminalView,
  connection: () => Connection,
  gate: () => OutputGate,
): Omit<ScreenListener, keyof TerminalKeys> => ({
  input: (bytes) => connection().write(bytes),
  modified: (input) => modifiedBy(view.modifiers, input),
  size: (size) => {
    view.size.value = size;
    connection().resize(size);
  },
  zoom: (zoom) => {
    view.zoom.value = zoom;
  },
  title: (title) => {
    view.title.value = plainTitle(title);
  },
  found: (found) => {
    view.found.value = found;
  },
  link: (uri) => {
    view.link.value = uri;
  },
  innerLink: (link) => {
    view.innerLink.value = link;
  },
  copy: (selection, text) => copyFor(view, selection, text),
  scrolling: {
    requestSnapshot: (id) => connection().request('look_back', id),
    requestRedraw: (id) => connection().request('redraw', id),
    freeze: (snapshot, done) => gate().freeze(snapshot, done),
    hold: () => gate().hold(),
    goLive: (isRedrawn) => gate().goLive(isRedrawn),
  },
});

/** Ends after which the user may no longer see the output. */
const NOT_THEIRS: readonly EndReason[] = ['collaboration_ended', 'unauthorized', 'refused'];

const connectionListener = (
  view: TerminalView,
  screen: Screen,
  gate: OutputGate,
  onResumed: (how: Resumed) => void,
): ConnectionListener => ({
  state: (state) => {
    view.connection.value = state;
    if (state.kind === 'open') view.everOpen.value = true;
    if (state.kind === 'over') screen.scrollback.ended();
    if (state.kind === 'over' && NOT_THEIRS.includes(state.why)) screen.terminal.reset();
  },
  health: (health) => {
    view.health.value = health;
  },
  bytes: (data) => {
    screen.scrollback.output();
    gate.push(data);
  },
  resumed: (how, ready) => {
    const isMuxed = ready.mux_session !== null;
    view.readOnly.value = ready.mode === 'view';
    if (how !== 'exact') view.plainShell.value = ready.fallback;
    gate.connected(isMuxed, how === 'exact');
    screen.scrollback.connected(isMuxed, how === 'exact');
    view.isOwner.value = ready.owner;
    // The service announces a running recording again.
    view.recording.value = null;
    screen.terminal.options.disableStdin = view.readOnly.value;
    view.people.value = [];
    rule(view, screen, { cols: null, rows: null });
    onResumed(how);
  },
  frame: (frame) => onFrame(view, screen, frame),
});

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
  const { openScreen } = await lazyImport(() => import('../../terminal/screen/screen.ts'));
  const screen = await openScreen(host, preferredAppearance(), {
    ...screenListener(
      view,
      () => connection,
      () => gate,
    ),
    ...keys,
  });
  view.size.value = screen.size();
  const output = outputQueue({
    write: (data, done) => screen.terminal.write(data, done),
    flooded: () => connection.suspend(),
    drained: () => connection.open(),
  });
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
