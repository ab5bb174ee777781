/** What keeping containers in stock needs of an engine, beside running them. */
export interface WarmPoolEngine {
  /** What the reference stands for now; null when the engine does not have it. Never pulls. */
  imageId(reference: string): Promise<string | null>;
}
