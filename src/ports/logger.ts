type Write = {
  (fields: object, message: string): void;
  (message: string): void;
};

/** Structured log at the edges. Never a secret, never terminal bytes. */
export type Logger = { readonly info: Write; readonly warn: Write; readonly error: Write };
