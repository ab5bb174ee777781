/** The same work, and what is to happen whenever it has ended well. */
export const followed =
  <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>, then: () => Promise<void>) =>
  async (...args: A): Promise<R> => {
    const done = await work(...args);
    void then();
    return done;
  };
