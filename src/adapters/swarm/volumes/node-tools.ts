import { ensureTools, removeOtherTools } from '../../docker/volumes/tools-volume.ts';
import type { Manager } from '../client/manager.ts';
import type { Nodes } from '../client/nodes.ts';
import { ensureImage, imageIdOn } from '../images/node-images.ts';

export type NodeTools = {
  /** The tmux volume of a node; null while it cannot have one: its terminals are plain shells. */
  on(nodeId: string): Promise<string | null>;
};

type ToolsSettings = { readonly instanceId: string; readonly toolsImage: string | null };

/** How long a node without tools is not asked again. */
const RETRY_MS = 60_000;

/** The tmux volumes of nodes, each filled once for a run of the service and an image of the manager. */
export function nodeTools(
  manager: Manager,
  nodes: Nodes,
  { instanceId, toolsImage: image }: ToolsSettings,
): NodeTools {
  const made = new Map<string, Made>();
  async function make(nodeId: string, image: string): Promise<string> {
    const calls = await nodes.engineOf(nodeId);
    await ensureImage(calls, image, manager.calls);
    const volume = await ensureTools(calls.docker, { instanceId, image });
    // Each start names the present volume, so that no stopped container needs another. What stays goes another time.
    await removeOtherTools(calls.docker, instanceId, volume).catch(() => {});
    return volume;
  }
  return {
    async on(nodeId) {
      if (image === null) return null;
      const imageId = await imageIdOn(manager.calls, image);
      const known = made.get(nodeId);
      if (known?.imageId === imageId) return await known.volume;
      const volume = make(nodeId, image).catch(() => {
        setTimeout(() => made.delete(nodeId), RETRY_MS).unref();
        return null;
      });
      made.set(nodeId, { imageId, volume });
      return await volume;
    },
  };
}

type Made = { readonly imageId: string | null; readonly volume: Promise<string | null> };
