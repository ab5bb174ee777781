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

export type Box = {
  readonly spec: ContainerSpec;
  readonly handle: RuntimeHandle;
  /** null while it is stopped. */
  startedAt: Date | null;
};

/** Containers that are rows in a map, `boxes` by runtime id. They know a handful of commands and no files. */
export function memoryRuntime(node = 'memory'): ContainerRuntime & { readonly boxes: Map<string, Box> } {
  const boxes = new Map<string, Box>();
  const volumes = new Set<string>();
  const existing = ({ runtimeId }: RuntimeHandle): Box => {
    const box = boxes.get(runtimeId);
    if (box === undefined) throw new RuntimeFailure(`no such container: ${runtimeId}`, 404);
    return box;
  };
  return {
    boxes,
    capabilities: CAPABILITIES,
    async create(spec) {
      const runtimeId = createHash('sha256').update(`${node} ${spec.dbId} ${spec.generation}`).digest('hex');
      const handle = { node, runtimeId };
      volumes.add(spec.volume);
      if (!boxes.has(runtimeId)) boxes.set(runtimeId, { spec, handle, startedAt: null });
      return handle;
    },
    async start(handle) {
      existing(handle).startedAt ??= new Date();
    },
    async stop({ runtimeId }) {
      const box = boxes.get(runtimeId);
      if (box !== undefined) box.startedAt = null;
    },
    async remove({ runtimeId }) {
      boxes.delete(runtimeId);
    },
    async find(dbId, generation) {
      const found = [...boxes.values()].find(
        ({ spec }) => spec.dbId === dbId && spec.generation === generation,
      );
      return found?.handle ?? null;
    },
    async ping() {},
    observe: async ({ runtimeId }) => observed(boxes.get(runtimeId)),
    list: async () =>
      [...boxes.values()].map(({ handle, spec, startedAt }) => ({
        handle,
        dbId: spec.dbId,
        generation: spec.generation,
        running: startedAt !== null,
      })),
    watch: () => () => {},
    volumeExists: async (volume) => volumes.has(volume),
    async exec(handle, request) {
      const { spec, startedAt } = existing(handle);
      if (startedAt === null) throw new RuntimeFailure('container is not running', 409);
      return await runCommand(spec, request);
    },
  };
}

function observed(box: Box | undefined): ObservedContainer {
  if (box === undefined) return { kind: 'gone' };
  return box.startedAt === null
    ? { kind: 'stopped', exitCode: 0 }
    : { kind: 'running', startedAt: box.startedAt };
}

const CAPABILITIES = {
  resizeInPlace: false,
  keepsWritableLayerOnStop: false,
  perWorkspaceSeccomp: false,
  movableVolume: false,
  pause: false,
  statsWithoutAgent: false,
  diskQuota: 'soft',
} as const;

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
