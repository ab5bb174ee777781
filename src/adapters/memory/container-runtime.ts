import { createHash } from 'node:crypto';
import {
  type ContainerRuntime,
  type ContainerSpec,
  type ExecRequest,
  type ExecResult,
  type ObservedContainer,
  RuntimeFailure,
  type RuntimeHandle,
} from '../../ports/container-runtime.ts';

type Entry = { readonly spec: ContainerSpec; observed: ObservedContainer };

/** Containers that are rows in a map. They know a handful of commands and no files. */
export function memoryRuntime(node = 'memory'): ContainerRuntime {
  const containers = new Map<string, Entry>();
  const volumes = new Set<string>();
  const find = ({ runtimeId }: RuntimeHandle): Entry => {
    const entry = containers.get(runtimeId);
    if (entry === undefined) throw new RuntimeFailure(`no such container: ${runtimeId}`, 404);
    return entry;
  };
  return {
    capabilities: {
      resizeInPlace: false,
      keepsWritableLayerOnStop: false,
      perWorkspaceSeccomp: false,
      movableVolume: false,
      pause: false,
      statsWithoutAgent: false,
      diskQuota: 'soft',
    },
    async create(spec) {
      const runtimeId = createHash('sha256').update(`${node} ${spec.dbId} ${spec.generation}`).digest('hex');
      volumes.add(spec.volume);
      if (!containers.has(runtimeId))
        containers.set(runtimeId, { spec, observed: { kind: 'stopped', exitCode: 0 } });
      return { node, runtimeId };
    },
    async start(handle) {
      const entry = find(handle);
      if (entry.observed.kind !== 'running') entry.observed = { kind: 'running', startedAt: new Date() };
    },
    async stop({ runtimeId }) {
      const entry = containers.get(runtimeId);
      if (entry?.observed.kind === 'running') entry.observed = { kind: 'stopped', exitCode: 0 };
    },
    async remove({ runtimeId }) {
      containers.delete(runtimeId);
    },
    observe: async ({ runtimeId }) => containers.get(runtimeId)?.observed ?? { kind: 'gone' },
    list: async () =>
      [...containers].map(([runtimeId, { spec, observed }]) => ({
        handle: { node, runtimeId },
        dbId: spec.dbId,
        generation: spec.generation,
        running: observed.kind === 'running',
      })),
    volumeExists: async (volume) => volumes.has(volume),
    async exec(handle, request) {
      const { spec, observed } = find(handle);
      if (observed.kind !== 'running') throw new RuntimeFailure('container is not running', 409);
      return await runCommand(spec, request);
    },
  };
}

type Output = {
  readonly exitCode: number | null;
  readonly stdout?: string | Buffer;
  readonly stderr?: string;
};
type Command = (
  args: readonly string[],
  request: ExecRequest,
  spec: ContainerSpec,
) => Output | Promise<Output>;

const COMMANDS: Readonly<Record<string, Command>> = {
  true: () => ({ exitCode: 0 }),
  false: () => ({ exitCode: 1 }),
  echo: (args) => ({ exitCode: 0, stdout: `${args.join(' ')}\n` }),
  hostname: (_args, _request, spec) => ({ exitCode: 0, stdout: `${spec.hostname}\n` }),
  pwd: (_args, request) => ({ exitCode: 0, stdout: `${request.workdir ?? '/workspace'}\n` }),
  cat: ([path], { stdin }) =>
    path === undefined
      ? { exitCode: 0, stdout: stdin ?? '' }
      : { exitCode: 1, stderr: `cat: ${path}: No such file or directory\n` },
  printenv: ([name = ''], { env }, spec) => {
    const value = { HOME: '/workspace', ...spec.env, ...env }[name];
    return value === undefined ? { exitCode: 1 } : { exitCode: 0, stdout: `${value}\n` };
  },
  sleep: async ([seconds], { timeoutSeconds }) => {
    const inTime = Number(seconds) <= timeoutSeconds;
    await new Promise((resolve) => setTimeout(resolve, Math.min(Number(seconds), timeoutSeconds) * 1000));
    return { exitCode: inTime ? 0 : null };
  },
};

async function runCommand(spec: ContainerSpec, request: ExecRequest): Promise<ExecResult> {
  const startedAt = performance.now();
  const [name = '', ...args] = request.command;
  const missing: Command = () => ({ exitCode: 127, stderr: `${name}: not found\n` });
  const { exitCode, stdout, stderr } = await (COMMANDS[name] ?? missing)(args, request, spec);
  const [out, err] = [Buffer.from(stdout ?? ''), Buffer.from(stderr ?? '')];
  return {
    exitCode,
    stdout: out.subarray(0, request.maxOutputBytes),
    stderr: err.subarray(0, request.maxOutputBytes),
    truncated: Math.max(out.length, err.length) > request.maxOutputBytes,
    durationMs: Math.round(performance.now() - startedAt),
  };
}
