const encoder = new TextEncoder();

/** Builds bytes in one memory block that grows. */
export class OutputBuffer {
  private bytes: Uint8Array<ArrayBuffer>;
  private length = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** Copies `source` from `start` up to `end`. */
  copy(source: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.reserve(size);
    const { bytes, length } = this;
    // Setting up a native copy costs more than copying a few bytes by hand.
    if (size < 48) for (let i = 0; i < size; i++) bytes[length + i] = source[start + i] as number;
    else bytes.set(start === 0 && end === source.length ? source : source.subarray(start, end), length);
    this.length = length + size;
  }

  write(text: string): void {
    if (text === '') return;
    this.reserve(text.length * 3);
    this.length += encoder.encodeInto(text, this.bytes.subarray(this.length)).written;
  }

  /** The bytes so far. The buffer must not be used afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  private reserve(size: number): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
