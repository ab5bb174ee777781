type Step<T> = IteratorResult<T, void>;

/** Values that arrive by themselves, for one `for await`. They wait until they are taken. */
export class Queue<T> implements AsyncIterableIterator<T, void, undefined> {
  readonly #taken: (value: T) => void;
  readonly #left: () => void;
  #values: T[] = [];
  /** Index of the first waiting value. Removing each from the front would move all that follow. */
  #first = 0;
  #end: { readonly error: unknown } | 'done' | null = null;
  #waiting: ((step: Step<T> | Promise<Step<T>>) => void)[] = [];

  /** `taken` is called for each value that leaves, `left` when the loop ends early. */
  constructor(taken: (value: T) => void = () => {}, left: () => void = () => {}) {
    this.#taken = taken;
    this.#left = left;
  }

  get length(): number {
    return this.#values.length - this.#first;
  }

  push(value: T): void {
    if (this.#end !== null) return;
    this.#values.push(value);
    this.#serve();
  }

  /** Puts a taken value back, before the waiting ones. */
  putBack(value: T): void {
    this.#values = [value, ...this.#values.slice(this.#first)];
    this.#first = 0;
    this.#serve();
  }

  /** Drops the waiting values, and puts `value` in its place. */
  replace(value: T): void {
    this.#drop();
    this.push(value);
  }

  /** No more values; those that wait are still taken. With `failure` the loop throws after them. */
  end(...failure: readonly [unknown?]): void {
    this.#end ??= failure.length === 0 ? 'done' : { error: failure[0] };
    this.#serve();
  }

  next(): Promise<Step<T>> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#serve();
    });
  }

  async return(): Promise<Step<T>> {
    this.#drop();
    this.end();
    this.#left();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const isValue = this.length > 0;
      const value = this.#values[this.#first] as T;
      const step = isValue ? { done: false as const, value } : this.#last();
      if (step === null) return;
      this.#waiting.shift()?.(step);
      if (!isValue) continue;
      this.#remove();
      if (value !== undefined) this.#taken(value);
    }
  }

  #remove(): void {
    this.#first += 1;
    if (this.#first * 2 < this.#values.length) return;
    this.#values = this.#values.slice(this.#first);
    this.#first = 0;
  }

  #drop(): void {
    this.#values = [];
    this.#first = 0;
  }

  #last(): Step<T> | Promise<Step<T>> | null {
    if (this.#end === null) return null;
    return this.#end === 'done' ? { done: true, value: undefined } : Promise.reject(this.#end.error);
  }
}
