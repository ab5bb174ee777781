import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { ContainerUse } from '../../ports/containers/lifetime/lifetime-repository.ts';
import type { TerminalStream } from './output/terminal-stream.ts';
import type { TerminalRegistry, TerminalRegistryDeps } from './terminal-registry.ts';

type Listener = TerminalRegistryDeps['listener'];
type Traffic = { readonly stream: TerminalStream; inputBytes: number; outputBytes: number };

/** The uses of containers by terminals of this process: open ones, and input and output since the last call. */
export function terminalActivity(observer: Listener) {
  const streams = new Map<TerminalKey, Traffic>();
  const listener: Listener = {
    opened: (key, stream) => {
      streams.set(key, { stream, inputBytes: 0, outputBytes: 0 });
      observer.opened(key, stream);
    },
    emptied: (key) => {
      streams.delete(key);
      observer.emptied(key);
    },
  };

  return {
    /** For the registry; passes all on to the observer. */
    listener,

    usesNow(registry: Pick<TerminalRegistry, 'targets' | 'all'>): readonly ContainerUse[] {
      const open = new Set(registry.all().map(({ key }) => key));
      return registry.targets().flatMap(({ key, dbId }) => {
        const attached = open.has(key) ? [{ dbId, kind: 'terminal' } as const] : [];
        const traffic = streams.get(key);
        return traffic === undefined ? attached : [...attached, ...moved(traffic, dbId)];
      });
    },
  };
}

function moved(traffic: Traffic, dbId: string): readonly ContainerUse[] {
  const [inputBytes, outputBytes] = [traffic.stream.received(), traffic.stream.bufferedRange().end];
  const uses: ContainerUse[] = [];
  if (inputBytes !== traffic.inputBytes) uses.push({ dbId, kind: 'input' });
  if (outputBytes !== traffic.outputBytes) uses.push({ dbId, kind: 'output' });
  Object.assign(traffic, { inputBytes, outputBytes });
  return uses;
}
