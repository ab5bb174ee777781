import { ensureTools } from '../../docker/volumes/tools-volume.ts';
import type { Manager } from '../client/manager.ts';
import type { Nodes } from '../client/nodes.ts';
import { ensureImage } from '../images/node-images.ts';

export type NodeTools = {
  /** The tmux volume of a node; null while it cannot have one: its terminals are plain shells. */
  on(nodeId: string): Promise<string | null>;
};

type ToolsSettings = { readonly instanceId: string; readonly toolsImage: string | null };

/** How long a node without tools is not asked again. */
const RETRY_MS = 60_000;

/** The tmux volumes of nodes, each filled once for a run of the service. */
export function nodeTools(
  manager: Manager,
  nodes: Nodes,
  { instanceId, toolsImage: image }: ToolsSettings,
): NodeTools {
  const made = new Map<string, Promise<string | null>>();
  async function make(nodeId: string): Promise<string | null> {
    if (image === null) return null;
    const calls = await nodes.engineOf(nodeId);
    await ensureImage(calls, image, manager.calls);
    return await ensureTools(calls.docker, { instanceId, image });
  }
  return {
    on(nodeId) {
      const known = made.get(nodeId);
      if (known !== undefined) return known;
      const making = make(nodeId).catch(() => {
        setTimeout(() => made.delete(nodeId), RETRY_MS).unref();
        return null;
      });
      made.set(nodeId, making);
      return making;
    },
  };
}
