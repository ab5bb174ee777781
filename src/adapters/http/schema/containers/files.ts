import { Type } from '@sinclair/typebox';
import { Closed, Flag, NamedObject, Timestamp } from '../common.ts';

const Path = Type.String({
  maxLength: 16_384,
  description: 'Relative to /workspace, or absolute inside it. `..` is refused.',
});

export const FilesQuery = Closed({ path: Type.Optional(Path) });
export const FileQuery = Closed({ path: Path });
export const UploadQuery = Closed({
  path: Path,
  replace: Flag({ description: '`false`: 409 `file_in_the_way` if there is a file. Default `true`.' }),
});

export const FolderBody = NamedObject('Folder', {
  path: Type.String(),
  entries: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.Union(['file', 'folder', 'link', 'other'].map((kind) => Type.Literal(kind))),
      size: Type.Integer(),
      mode: Type.String({ description: 'Permission bits, octal, for example 0644.' }),
      modified: Timestamp,
    }),
  ),
  complete: Type.Boolean({ description: 'False: there are more entries, or names that are not UTF-8.' }),
});

export const UploadedBody = NamedObject('FileWritten', {
  path: Type.String(),
  size: Type.Integer(),
  created: Type.Boolean(),
});

export const RemovedBody = NamedObject('FileDeleted', { path: Type.String(), deleted: Type.Boolean() });
