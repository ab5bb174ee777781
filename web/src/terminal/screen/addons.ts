import { ClipboardAddon, type IClipboardProvider } from '@xterm/addon-clipboard';
import { UnicodeGraphemesAddon } from '@xterm/addon-unicode-graphemes';
import { WebLinksAddon } from '@xterm/addon-web-links';
import type { Terminal } from '@xterm/xterm';
import { type InnerLink, linkOf } from '../links.ts';
import { withAllowedStyles } from './csp-styles.ts';

type Listener = {
  /** A program asks for this text to be copied (OSC 52). */
  copy(selection: string, text: string): void;
  /** Where a link leads, null when left. */
  link(uri: string | null): void;
  /** A link to an address in the container was pressed. */
  innerLink(link: InnerLink): void;
};

/** Programs may ask for text to be copied (OSC 52), but cannot read the clipboard. */
const clipboard = ({ copy }: Listener): IClipboardProvider => ({
  readText: () => '',
  writeText: (selection, text) => copy(selection, text),
});

const openLink =
  ({ innerLink }: Listener) =>
  (_: MouseEvent, uri: string): void => {
    const link = linkOf(uri);
    if (link.kind === 'web') window.open(link.uri, '_blank', 'noopener,noreferrer');
    if (link.kind === 'inside') innerLink(link);
  };

/** Wide characters, links and the clipboard. */
export function loadAddons(terminal: Terminal, listener: Listener): void {
  const activate = openLink(listener);
  const hover = (_: MouseEvent, uri: string): void => listener.link(uri);
  const leave = (): void => listener.link(null);
  terminal.loadAddon(new UnicodeGraphemesAddon());
  terminal.loadAddon(new ClipboardAddon(undefined, clipboard(listener)));
  terminal.loadAddon(new WebLinksAddon(activate, { hover, leave }));
  terminal.options.linkHandler = { activate, hover, leave };
}

const PRETENDERS = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Whether there is a real graphics card; software rendering is slower than the built-in renderer. */
function hasGraphicsCard(): boolean {
  const canvas = document.createElement('canvas');
  const gl = canvas.getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  if (gl === null) return false;
  const names = gl.getExtension('WEBGL_debug_renderer_info');
  const name: unknown = names && gl.getParameter(names.UNMASKED_RENDERER_WEBGL);
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return !PRETENDERS.test(String(name));
}

/** Draws with the graphics card where there is one. `onChange` gets whether it does, and every change of that. */
export async function loadWebgl(terminal: Terminal, onChange: () => void): Promise<void> {
  if (!hasGraphicsCard()) return;
  try {
    const { WebglAddon } = await import('@xterm/addon-webgl');
    const webgl = new WebglAddon();
    webgl.onContextLoss(() => {
      withAllowedStyles(() => webgl.dispose());
      onChange();
    });
    terminal.loadAddon(webgl);
    onChange();
  } catch {
    // why: without WebGL the built-in renderer draws the same, only slower
  }
}
