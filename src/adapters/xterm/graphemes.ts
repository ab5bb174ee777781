import { createRequire } from 'node:module';
import type { UnicodeGraphemesAddon } from '@xterm/addon-unicode-graphemes';

type Graphemes = { readonly UnicodeGraphemesAddon: typeof UnicodeGraphemesAddon };

/**
 * The widths of characters as in the browser. The addon reads its table's header at the start of the memory below a
 * buffer. Node.js puts small buffers into a shared pool, where other bytes may be there, so the pool is off while the
 * addon loads.
 */
export const { UnicodeGraphemesAddon: GraphemesAddon } = withoutPool<Graphemes>(() =>
  createRequire(import.meta.url)('@xterm/addon-unicode-graphemes'),
);

function withoutPool<T>(load: () => T): T {
  const { poolSize } = Buffer;
  Buffer.poolSize = 0;
  try {
    return load();
  } finally {
    Buffer.poolSize = poolSize;
  }
}
