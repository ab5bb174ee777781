import type { Scene } from './scene.ts';

export type Figure = {
  readonly what: string;
  /** The engine's own stream; null where there is nothing to compare with. */
  readonly bare: string | null;
  readonly berth: string;
  readonly ratio: number | null;
  readonly wanted: string;
  readonly isMet: boolean;
};

export type PartOptions = {
  readonly rounds: number;
  /** Idle terminals. */
  readonly idle: number;
};

export type Part = (scene: Scene, options: PartOptions) => Promise<readonly Figure[]>;
