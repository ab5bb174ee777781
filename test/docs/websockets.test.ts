import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Value } from '@sinclair/typebox/value';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import t from 'tap';
import { EVENT_MESSAGES, Ping } from '../../src/adapters/websocket/events/event-schema.ts';
import { WATCH_MESSAGES } from '../../src/adapters/websocket/files/watch-frames.ts';
import { CLOSE_CODES } from '../../src/protocol/close-codes.ts';
import {
  decodeExecClientFrame,
  decodeExecServerFrame,
  EXEC_CLIENT_FRAMES,
  EXEC_SERVER_FRAMES,
} from '../../src/protocol/exec-frames.ts';
import { schemasOf } from '../../src/protocol/frames.ts';
import {
  decodeProcessClientFrame,
  decodeProcessServerFrame,
  PROCESS_CLIENT_FRAMES,
  PROCESS_SERVER_FRAMES,
} from '../../src/protocol/process-frames.ts';
import {
  CLIENT_FRAMES,
  decodeClientFrame,
  decodeServerFrame,
  SERVER_FRAMES,
} from '../../src/protocol/terminal-frames.ts';
import { valuesOf } from '../support/service/open-api-inputs.ts';
import { aPerson, aService, as } from '../support/service/service.ts';
import { eventClient } from '../support/service/streams.ts';
import { aContainerOf, listening } from '../support/terminal/terminals.ts';

const PAGE = 'docs/websockets.md';

/** One line per property, so that a change is one line of a difference. */
function block(title: string, schemas: { readonly [type: string]: unknown }): string {
  const frames = Object.entries(schemas).map(([type, schema]) => {
    const { properties, ...rest } = schema as { properties: object };
    const fields = Object.entries(properties).map(([name, one]) => `    "${name}": ${JSON.stringify(one)}`);
    const head = JSON.stringify(rest).slice(1, -1);
    return `  "${type}": {${head}, "properties": {\n${fields.join(',\n')}\n  }}`;
  });
  return `${title}\n\n\`\`\`json\n{\n${frames.join(',\n')}\n}\n\`\`\``;
}

const codes = Object.entries(CLOSE_CODES)
  .sort(([, a], [, b]) => a - b)
  .map(([reason, code]) => `| ${code} | \`${reason}\` |`);

type Table = Parameters<typeof schemasOf>[0];

const bothWays = (client: Table, server: Table): string =>
  [
    block('From the client, by `type`:', schemasOf(client)),
    block('From the service, by `type`:', schemasOf(server)),
  ].join('\n\n');

const SECTIONS: Readonly<Record<string, string>> = {
  terminal: bothWays(CLIENT_FRAMES, SERVER_FRAMES),
  process: bothWays(PROCESS_CLIENT_FRAMES, PROCESS_SERVER_FRAMES),
  events: [
    block('From the client:', { ping: Ping }),
    block('From the service, by `type`:', EVENT_MESSAGES),
  ].join('\n\n'),
  files: block('From the service, by `type`:', WATCH_MESSAGES),
  exec: bothWays(EXEC_CLIENT_FRAMES, EXEC_SERVER_FRAMES),
  codes: ['| Code | Reason |', '|---|---|', ...codes].join('\n'),
};

const written = (page: string): string =>
  Object.entries(SECTIONS).reduce(
    (text, [name, section]) =>
      text.replace(
        new RegExp(`(<!-- schemas: ${name} -->\n)[^]*?(<!-- end -->)`),
        (_all, start: string, end: string) => `${start}\n${section}\n\n${end}`,
      ),
    page,
  );

t.test('docs/websockets.md has the schemas of the code; WRITE_DOCS=1 writes them', async (t) => {
  const page = readFileSync(PAGE, 'utf8');
  if (process.env['WRITE_DOCS'] === '1') writeFileSync(PAGE, written(page));
  else t.equal(page, written(page));
});

t.test('a frame made by its schema is read as it is', async (t) => {
  const { of } = valuesOf({ components: { schemas: {} } });
  const tables = [
    [schemasOf(CLIENT_FRAMES), decodeClientFrame],
    [schemasOf(SERVER_FRAMES), decodeServerFrame],
    [schemasOf(EXEC_CLIENT_FRAMES), decodeExecClientFrame],
    [schemasOf(EXEC_SERVER_FRAMES), decodeExecServerFrame],
    [schemasOf(PROCESS_CLIENT_FRAMES), decodeProcessClientFrame],
    [schemasOf(PROCESS_SERVER_FRAMES), decodeProcessServerFrame],
  ] as const;
  for (const [schemas, decode] of tables) {
    for (const [type, schema] of Object.entries(schemas)) {
      const same = fc.property(of(schema), (frame) => {
        const sent = JSON.stringify(frame);
        const read = decode(sent);
        return isDeepStrictEqual(read, { ...read, ...JSON.parse(sent) });
      });
      t.doesNotThrow(() => fc.assert(same), type);
    }
  }
});

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

t.test('events have their schemas, and no other fields', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const { socket, messages, until } = await eventClient(await listening(t, service), ada.token);
  const call = as(service, ada);
  const id = await aContainerOf(service, ada);
  const { resources } = (await call('GET', `/api/containers/${id}`)).json();
  await call('PATCH', `/api/containers/${id}`, { name: 'renamed', ...resources });
  await call('POST', `/api/containers/${id}/stop`);
  await call('POST', `/api/containers/${id}/start`);
  await call('DELETE', `/api/containers/${id}`);
  socket.send(JSON.stringify({ type: 'ping', t: 1 }));
  await until(() => messages.some(({ type }) => type === 'container_deleted'));
  const seen = new Set(messages.map(({ type }) => type));
  for (const type of ['created', 'started', 'stopped', 'updated', 'deleted'])
    t.ok(seen.has(`container_${type}`), type);
  for (const message of messages) {
    const schema = EVENT_MESSAGES[message.type];
    if (schema === undefined) throw new Error(`no schema of ${message.type}`);
    const full = structuredClone(message);
    t.same(Value.Clean(schema, full), message, message.type);
    t.ok(ajv.validate(schema, message), ajv.errorsText());
  }
});
