import { type Static, Type } from '@sinclair/typebox';
import { NamedObject } from '../common.ts';

export const EngineBody = NamedObject('Engine', {
  keeps_layer: Type.Boolean({
    description: 'A stopped container keeps what is outside /workspace. false: only /workspace is kept.',
  }),
  takes_snapshots: Type.Boolean({ description: 'Whether there are snapshots, forks and `carry_over`.' }),
  measures_disk: Type.Boolean({
    description: 'Whether the use outside /workspace, and of stopped containers, is measured.',
  }),
  has_root: Type.Boolean({
    description: 'Programs in containers are root. false: roles that install something are refused.',
  }),
});
export type EngineBody = Static<typeof EngineBody>;
