/** The parts of an OpenAPI document that are written here; the library types them too loosely. */
export type Schema = { [keyword: string]: unknown };
type Media = { [type: string]: { schema: Schema; examples?: Schema } };
export type Response = { description: string; content?: Media; headers?: Schema };

export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: Schema[];
  requestBody?: { required?: boolean; content: Media };
  responses: { [status: string]: Response };
  'x-berth-scope'?: string;
  'x-berth-for-restricted-tokens'?: true;
};

export type PathItem = { [method: string]: Operation };

export type Document = {
  paths: { [path: string]: PathItem };
  components: { schemas: { [name: string]: Schema }; [kind: string]: unknown };
};

const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);

export const operationsIn = (paths: Document['paths']): readonly Operation[] =>
  Object.values(paths).flatMap((item) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([, operation]) => operation),
  );
