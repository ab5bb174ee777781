import type { Image, Role } from '../../domain/containers/catalogue.ts';
import { NO_LIFETIME_LIMITS } from '../../domain/containers/lifetime/lifetime.ts';
import type { Tier } from '../../domain/containers/resources.ts';

const tier = (
  name: string,
  memory: number,
  cpu: number,
  disk: number,
  layer: number,
  containers: number,
  agents: number,
  snapshots: number,
  snapshotMb: number,
  perMinute: number,
  sockets: number,
): Tier => ({
  name,
  memoryMb: { min: 256, max: memory },
  cpuMillicores: { min: 100, max: cpu },
  diskMb: { min: 512, max: disk },
  layerMb: layer,
  maxContainers: containers,
  maxAgents: agents,
  maxSnapshots: snapshots,
  snapshotMb,
  ...NO_LIFETIME_LIMITS,
  requestsPerMinute: perMinute,
  maxTerminals: sockets,
  maxEventSockets: sockets,
  maxCommands: sockets / 2,
  maxUploads: sockets / 4,
  maxDownloads: sockets / 2,
});

const role = (key: string, label: string, apt: readonly string[]): Role => ({
  key,
  label,
  packages: apt.length === 0 ? {} : { apt },
  script: null,
});

/** The migrations' catalogue, but with packages for one manager only. */
export const initialCatalogue = (): { tiers: Tier[]; images: Image[]; roles: Role[] } => ({
  tiers: [
    tier('guest', 512, 500, 2048, 2048, 1, 0, 1, 2048, 600, 16),
    tier('free', 2048, 2000, 10_240, 2048, 5, 2, 5, 10_240, 1200, 64),
    tier('pro', 4096, 4000, 20_480, 8192, 10, 10, 20, 40_960, 2400, 128),
    tier('enterprise', 8192, 8000, 51_200, 16_384, 20, 25, 50, 204_800, 6000, 256),
  ],
  images: [
    { key: 'debian', label: 'Debian 12', reference: 'berth/debian:12', digest: null, shell: '/bin/bash' },
  ],
  roles: [
    role('standard', 'Standard', []),
    role('node', 'Node.js', ['nodejs', 'npm']),
    role('python', 'Python', ['python3', 'python3-pip', 'python3-venv']),
    role('go', 'Go', ['golang-go', 'gcc', 'libc6-dev']),
    role('rust', 'Rust', ['rustc', 'cargo', 'gcc', 'libc6-dev']),
    role('devops', 'DevOps', ['ansible-core', 'jq', 'make', 'rsync']),
  ],
});
