import { Type } from '@sinclair/typebox';
import type { Schemas } from '../client/index.ts';
import {
  aTool,
  CHANGES,
  CREATES,
  closed,
  containerOf,
  DESTROYS,
  inContainer,
  isInScope,
  READS,
  type Tool,
  ToolRefusal,
  type ToolScope,
} from './tool.ts';

const shown = ({ db_id, name, image, role, status, resources }: Schemas['Container']): object => ({
  name,
  id: db_id,
  status,
  image,
  role,
  ...resources,
});

const listContainers = aTool({
  name: 'list_containers',
  description: 'List the containers that you may use, with their state and limits.',
  input: closed({}),
  hints: READS,
  async run({ berth, scope }, _args, signal) {
    const all = await berth.containers.list({}, { signal }).all();
    return JSON.stringify(all.filter((one) => isInScope(scope, one)).map(shown), null, 1);
  },
});

const getContainer = aTool({
  name: 'get_container',
  description: 'Read the state, image and limits of a container.',
  input: closed(inContainer),
  hints: READS,
  run: async (context, args, signal) =>
    JSON.stringify(shown((await containerOf(context, args, signal)).info), null, 1),
});

const createContainer = aTool({
  name: 'create_container',
  description: 'Create and start a container. Files in /workspace survive a restart.',
  input: closed({
    name: Type.String({ description: 'Letters, digits and hyphens.' }),
    image: Type.Optional(Type.String({ description: 'Key of an image. Default: the standard one.' })),
    role: Type.Optional(Type.String({ description: 'Key of a role, whose tools are installed.' })),
    memory_mb: Type.Optional(Type.Integer({ minimum: 1 })),
    cpu_shares: Type.Optional(Type.Integer({ minimum: 1, description: 'Thousandths of a core.' })),
    disk_mb: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  hints: CREATES,
  async run({ berth }, args, signal) {
    return JSON.stringify(shown((await berth.create(args, { signal })).info), null, 1);
  },
});

const startContainer = aTool({
  name: 'start_container',
  description: 'Start a stopped container.',
  input: closed(inContainer),
  hints: CHANGES,
  async run(context, args, signal) {
    const container = await containerOf(context, args, signal);
    await container.start({ signal });
    return `${container.name} is ${container.info.status}`;
  },
});

const stopContainer = aTool({
  name: 'stop_container',
  description: 'Stop a container and all its programs. Its files stay.',
  input: closed(inContainer),
  hints: { ...DESTROYS, idempotentHint: true },
  async run(context, args, signal) {
    const container = await containerOf(context, args, signal);
    await container.stop({ signal });
    return `${container.name} is ${container.info.status}`;
  },
});

const deleteContainer = aTool({
  name: 'delete_container',
  description: 'Delete a container. Its owner can restore it for some days.',
  input: closed({ container: Type.String({ description: 'Name or id.' }) }),
  hints: DESTROYS,
  async run(context, args, signal) {
    if (!context.scope.mayDelete) throw new ToolRefusal('deleting is not allowed on this connection');
    const container = await containerOf(context, args, signal);
    await container.delete({ signal });
    return `${container.name} is deleted`;
  },
});

export const containerTools = ({ mayCreate, mayDelete }: ToolScope): readonly Tool[] => [
  listContainers,
  getContainer,
  ...(mayCreate ? [createContainer] : []),
  startContainer,
  stopContainer,
  ...(mayDelete ? [deleteContainer] : []),
];
