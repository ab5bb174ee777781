/** Layer rules: arrows only point inwards; `src/app/main` is the composition root and sees everything. */
const layer = (name, comment, from, allowed) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '.', pathNot: allowed },
});
const pure = '^(node:)?(crypto|stream|string_decoder|events|timers/promises)$';

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
    layer('ports-see-domain', 'a port speaks the language of the domain', '^src/ports/', [
      '^src/(domain|ports)/',
      '^(node:)?stream$',
    ]),
    layer('app-sees-ports-and-domain', 'a use case knows no technology', '^src/app/(?!main/)', [
      '^src/(domain|ports)/',
      '^src/app/(?!main/)',
      pure,
    ]),
    {
      name: 'adapters-are-islands',
      comment: 'adapters meet only in the composition root',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/([^/]+)/', pathNot: '^src/adapters/$1/' },
    },
    {
      name: 'only-http-sees-the-app',
      comment: 'driven adapters implement ports; only driving ones (http, websocket) call use cases',
      severity: 'error',
      from: { path: '^src/adapters/(?!http/|websocket/)' },
      to: { path: '^src/app/' },
    },
    {
      name: 'nobody-imports-main',
      comment: 'the composition root is at the top',
      severity: 'error',
      from: { path: '^src/(domain|ports|adapters)/|^src/app/(?!main/)' },
      to: { path: '^src/app/main/' },
    },
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
