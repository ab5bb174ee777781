import { Type } from '@sinclair/typebox';
import { firstPart, isBinary, MAX_OFFSET_BYTES, MAX_OUTPUT_BYTES, readPart } from './output.ts';
import { aTool, CHANGES, closed, containerOf, inContainer, READS, type Tool, ToolRefusal } from './tool.ts';

const MAX_ENTRIES = 500;
const MAX_WRITE_CHARACTERS = 200_000;

const path = Type.String({ description: 'In /workspace, relative or absolute.', minLength: 1 });

const readFile = aTool({
  name: 'read_file',
  description: 'Read a text file, at most 50 kB at a time.',
  input: closed({
    path,
    ...inContainer,
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OFFSET_BYTES,
        description: 'Bytes to skip. For what is further on, run tail -c.',
      }),
    ),
  }),
  hints: READS,
  async run(context, { path, container, offset = 0 }, signal) {
    const { id } = await containerOf(context, { container }, signal);
    const params = { path: { id }, query: { path } };
    const { response } = await context.berth.api.GET('/api/containers/{id}/files', {
      params,
      signal,
      parseAs: 'stream' as const,
    });
    const isFolder = response.headers.get('content-type')?.startsWith('application/json') === true;
    if (isFolder) throw new ToolRefusal(`${path} is a folder: use list_files`);
    if (response.body === null) return '';
    const { bytes, isWhole } = await readPart(response.body, offset, MAX_OUTPUT_BYTES);
    if (isBinary(bytes)) throw new ToolRefusal(`${path} is not a text file`);
    return firstPart(bytes, offset, isWhole);
  },
});

const writeFile = aTool({
  name: 'write_file',
  description: 'Write a text file, replacing what it had. Missing folders are made.',
  input: closed({ path, content: Type.String({ maxLength: MAX_WRITE_CHARACTERS }), ...inContainer }),
  hints: { ...CHANGES, destructiveHint: true },
  async run(context, { path, content, container }, signal) {
    const { id } = await containerOf(context, { container }, signal);
    const { data } = await context.berth.api.PUT('/api/containers/{id}/files', {
      params: { path: { id }, query: { path } },
      headers: { 'content-type': 'application/octet-stream' },
      body: content,
      bodySerializer: (body) => body,
      signal,
    });
    return `wrote ${data?.size} bytes to ${data?.path}`;
  },
});

const listFiles = aTool({
  name: 'list_files',
  description: 'List a folder: name, type, size and time of each entry.',
  input: closed({
    ...inContainer,
    path: Type.Optional(Type.String({ description: 'Default: /workspace.' })),
  }),
  hints: READS,
  async run(context, { container, path = '' }, signal) {
    const { id } = await containerOf(context, { container }, signal);
    const { data } = await context.berth.api.GET('/api/containers/{id}/files', {
      params: { path: { id }, query: { path } },
      headers: { accept: 'application/json' },
      signal,
    });
    if (data === undefined || typeof data === 'string')
      throw new ToolRefusal(`${path} is a file: use read_file`);
    const lines = data.entries
      .slice(0, MAX_ENTRIES)
      .map(({ name, type, size, modified }) => `${type}\t${size}\t${modified}\t${name}`);
    const isWhole = data.complete && data.entries.length <= MAX_ENTRIES;
    return (
      [...lines, ...(isWhole ? [] : ['[… there are more entries …]'])].join('\n') || 'the folder is empty'
    );
  },
});

export const fileTools: readonly Tool[] = [readFile, writeFile, listFiles];
