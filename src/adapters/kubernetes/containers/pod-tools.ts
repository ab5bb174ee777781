import { FILL_TOOLS, TOOLS_FOLDER } from '../../scripts/terminals/tmux/tmux-volume-scripts.ts';
import type { PodPart } from './pod-part.ts';

const VOLUME = 'tools';
const MAX_MB = 128;

const NONE: PodPart = { initContainers: [], volumes: [], mounts: [] };

/**
 * For the terminals of an image without tmux: a container of the base image fills a folder of the Pod first, which the
 * workspace cannot change. `given`: what each container of the Pod has.
 */
export function podTools(image: string, toolsImage: string | null, given: object): PodPart {
  if (toolsImage === null || toolsImage === image) return NONE;
  const mount = { name: VOLUME, mountPath: TOOLS_FOLDER };
  return {
    initContainers: [
      { ...given, name: VOLUME, image: toolsImage, command: ['sh', '-c', FILL_TOOLS], volumeMounts: [mount] },
    ],
    volumes: [{ name: VOLUME, emptyDir: { sizeLimit: `${MAX_MB}Mi` } }],
    mounts: [{ ...mount, readOnly: true }],
  };
}
