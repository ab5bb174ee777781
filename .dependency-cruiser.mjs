/** Layer rules: arrows only point inwards; `src/app/main` is the composition root and sees everything. */
const layer = (name, comment, from, allowed) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '.', pathNot: allowed },
});
const pure = '^(node:)?(crypto|stream|string_decoder|events|timers/promises)$';

/** The slices of `src/app`, each above those after it, and why it knows nothing of those above. */
const SLICES = {
  recordings: 'nothing but the composition root knows that terminals are recorded',
  terminals: 'terminals work without recordings: a recording observes a terminal',
  collaboration: 'who may share a terminal is decided without its sockets',
  containers: 'containers do not know terminals: the caller injects what closes them',
  events: 'the use cases publish events; events call no use case',
  identity: 'identity does not depend on what a user owns',
  audit: 'every slice writes audit records, so the audit depends on none',
};
const WINGS = {
  terminals: 'terminals are opened in containers',
  containers: 'containers belong to people',
  identity: 'people are there before anything that they have',
};
const downwards = (root, slices) =>
  Object.entries(slices)
    .slice(1)
    .map(([slice, comment], index) => ({
      name: `${root}-${slice}-looks-down`,
      comment,
      severity: 'error',
      from: { path: `^src/${root}/${slice}/` },
      to: {
        path: `^src/${root}/(${Object.keys(slices)
          .slice(0, index + 1)
          .join('|')})/`,
      },
    }));

export default {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'a cycle has no reading order',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    layer('domain-is-pure', 'the domain runs anywhere, without infrastructure', '^src/domain/', [
      '^src/domain/',
      '^(node:)?crypto$',
    ]),
    layer('protocol-sees-itself', 'the protocol runs in the page as well', '^src/protocol/', [
      '^src/(domain|protocol)/',
    ]),
    {
      name: 'protocol-runs-nothing-else',
      comment: 'what the protocol imports from the domain are types: the page would load the rest',
      severity: 'error',
      from: { path: '^src/protocol/' },
      to: { path: '.', pathNot: '^src/protocol/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'client-runs-anywhere',
      comment: 'the client runs in Node.js, browsers and the page: it knows the wire, not the service',
      severity: 'error',
      from: { path: '^src/client/' },
      to: {
        path: '.',
        pathNot: ['^src/(client|protocol)/', 'node_modules/openapi-fetch/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'command-calls-the-client',
      comment: 'the command runs on machines without the service: it knows the client and the wire',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: {
        path: '^src/|node_modules/',
        pathNot: [
          '^src/(cli|client|mcp|prompts|protocol)/',
          'node_modules/(commander|@commander-js/extra-typings|@bomb\\.sh/tab|@types/node|@types/ws|tar|ws)/',
        ],
      },
    },
    {
      name: 'command-is-an-entry-point',
      comment: 'the command is an entry point',
      severity: 'error',
      from: { path: '^(src|web/src)/', pathNot: '^src/cli/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'tools-know-the-client',
      comment:
        'the tools of assistants are a client of the interface, in the service too: no way around its checks',
      severity: 'error',
      from: { path: '^src/mcp/' },
      to: {
        path: '.',
        pathNot: [
          '^src/(mcp|client)/',
          '^(node:)?stream$',
          'node_modules/(@modelcontextprotocol/sdk|@sinclair/typebox)/',
        ],
      },
    },
    {
      name: 'service-knows-no-client',
      comment: 'the service does not call itself over HTTP',
      severity: 'error',
      from: { path: '^src/(domain|ports|protocol|concurrency|app)/' },
      to: { path: '^src/client/' },
    },
    {
      name: 'page-runs-shared-modules',
      comment: 'the page imports types from the whole service, and code from modules that import none',
      severity: 'error',
      from: { path: '^web/src/' },
      to: {
        path: '^src/',
        pathNot: ['^src/(client|protocol)/', '^src/adapters/xterm/input-handler\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'input-handler-runs-alone',
      comment: 'the page loads this module and nothing behind it',
      severity: 'error',
      from: { path: '^src/adapters/xterm/input-handler\\.ts$' },
      to: { path: '.', dependencyTypesNot: ['type-only'] },
    },
    layer('ports-see-domain', 'a port speaks the language of the domain', '^src/ports/', [
      '^src/(domain|ports)/',
      '^(node:)?stream$',
    ]),
    layer('app-sees-ports-and-domain', 'a use case knows no technology', '^src/app/(?!main/)', [
      '^src/(domain|ports|concurrency)/',
      '^src/app/(?!main/)',
      pure,
      'node_modules/lru-cache/',
    ]),
    layer('concurrency-is-generic', 'schedulers know nothing of what they schedule', '^src/concurrency/', [
      '^src/concurrency/',
      '^src/domain/fair-queue.ts$',
      pure,
    ]),
    {
      name: 'adapters-are-islands',
      comment:
        'adapters meet only in the composition root; the engines run the same scripts in their containers',
      severity: 'error',
      from: { path: '^src/adapters/((?!swarm/)[^/]+)/' },
      to: { path: '^src/adapters/([^/]+)/', pathNot: ['^src/adapters/$1/', '^src/adapters/scripts/'] },
    },
    {
      name: 'swarm-nodes-are-docker-engines',
      comment: 'containers of a swarm are those of the Docker engines of its nodes',
      severity: 'error',
      from: { path: '^src/adapters/swarm/' },
      to: { path: '^src/adapters/([^/]+)/', pathNot: '^src/adapters/(swarm|docker|scripts)/' },
    },
    layer(
      'scripts-know-no-engine',
      'scripts for `sh` run in the containers of any engine',
      '^src/adapters/scripts/',
      ['^src/adapters/scripts/', '^src/(domain|ports|concurrency)/', pure, 'node_modules/(lru-cache|tar)/'],
    ),
    {
      name: 'only-http-sees-the-app',
      comment: 'driven adapters implement ports; only driving ones (http, websocket, ssh) call use cases',
      severity: 'error',
      from: { path: '^src/adapters/(?!http/|websocket/|ssh/)' },
      to: { path: '^src/app/' },
    },
    layer('prompts-run-alone', 'the command and the agent ask alike', '^src/prompts/', [
      '^src/prompts/',
      '^(node:)?(readline/promises|stream)$',
    ]),
    layer('agent-runs-alone', 'the agent runs on machines without the service', '^src/agent/', [
      '^src/(agent|prompts|protocol)/',
      '^src/domain/(containers/files|json-size|result)\\.ts$',
      '^(node:)?(child_process|crypto|events|fs|fs/promises|http|module|net|os|path|stream|timers/promises|tty|util)$',
      'node_modules/(@lydell/node-pty|@commander-js/extra-typings|commander|tar|ws|@types/(node|ws))/',
    ]),
    {
      name: 'agent-is-an-entry-point',
      comment: 'the agent is a program of its own',
      severity: 'error',
      from: { path: '^(src|web/src)/', pathNot: '^src/agent/' },
      to: { path: '^src/agent/' },
    },
    {
      name: 'nobody-imports-main',
      comment: 'the composition root is at the top',
      severity: 'error',
      from: { path: '^src/(domain|ports|adapters)/|^src/app/(?!main/)' },
      to: { path: '^src/app/main/' },
    },
    ...downwards('app', SLICES),
    ...downwards('domain', WINGS),
    ...downwards('ports', WINGS),
    {
      name: 'schemas-import-typebox-only',
      comment: 'wire schemas are shared with the browser by `import type`',
      severity: 'error',
      from: { path: '^src/adapters/http/schema/' },
      to: { path: '.', pathNot: ['^src/adapters/http/schema/', 'node_modules/@sinclair/typebox/'] },
    },
    {
      name: 'no-dev-deps-in-src',
      comment: 'a production install has no development dependencies',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'not-unresolvable',
      comment: 'every import leads somewhere',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
