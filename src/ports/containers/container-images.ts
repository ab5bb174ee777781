/** What a warm pool needs of an engine besides running containers. */
export interface WarmPoolEngine {
  /** The image that the reference names now; null when the engine lacks it. Never pulls. */
  imageId(reference: string): Promise<string | null>;
}
