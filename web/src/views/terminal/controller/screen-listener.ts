import type { Signal } from '@preact/signals';
import type { Connection } from '../../../../../src/client/terminal/connection.ts';
import { copyText } from '../../../lib/browser/clipboard.ts';
import { programsMayCopy } from '../../../state/clipboard-permission.ts';
import { afterKey, isAny, isTyped, type Modifiers, modified } from '../../../terminal/keys/modifiers.ts';
import type { OutputGate } from '../../../terminal/output-gate.ts';
import { decideCopy } from '../../../terminal/program-copy.ts';
import type { ScreenListener } from '../../../terminal/screen/screen.ts';
import { plainTitle } from '../../../terminal/titles.ts';
import type { TerminalView } from './terminal-view.ts';

export type TerminalKeys = Pick<ScreenListener, 'action' | 'severalPanes'>;

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
export const screenListener = (
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
