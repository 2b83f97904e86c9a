const encoder = new TextEncoder();
const nothing = new Uint8Array(0);

/** The room in a new block beyond what was asked for, in bytes. The first one of a stream is for its first event alone. */
const spare = 1024;
const firstSpare = 256;

/** The largest block that is kept for several outputs, in bytes. */
const largestBlock = 8192;

/**
 * Builds bytes in a memory block that grows, one output after another. Outputs of a few events share a block: memory that
 * is not a JavaScript object takes longer to get and to give back than an event takes to write.
 */
export class OutputBuffer {
  private bytes: Uint8Array<ArrayBuffer> = nothing;
  /** The beginning of the present output in the block. */
  private start = 0;
  /** Its end. */
  private end = 0;
  /** The size of the next block: a stream that goes on gets larger ones. */
  private blockSize = 512;

  get isEmpty(): boolean {
    return this.end === this.start;
  }

  /** Makes room for an output of about this size. */
  begin(size: number): void {
    if (this.bytes.length - this.end >= size + size / 2) return;
    this.blockSize = Math.min(this.blockSize * 2, largestBlock);
    this.bytes = new Uint8Array(Math.max(this.blockSize, size + spare));
    this.start = 0;
    this.end = 0;
  }

  /** Copies `source` from `start` up to `end`. */
  copy(source: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.reserve(size);
    const { bytes, end: at } = this;
    // Setting up a native copy costs more than copying a few bytes by hand.
    if (size < 48) for (let i = 0; i < size; i++) bytes[at + i] = source[start + i] as number;
    else bytes.set(start === 0 && end === source.length ? source : source.subarray(start, end), at);
    this.end = at + size;
  }

  write(text: string): void {
    if (text === '') return;
    this.reserve(text.length);
    const { read, written } = encoder.encodeInto(text, this.bytes.subarray(this.end));
    this.end += written;
    if (read === text.length) return;
    // Other characters than those of ASCII take up to three bytes.
    const rest = text.slice(read);
    this.reserve(rest.length * 3);
    this.end += encoder.encodeInto(rest, this.bytes.subarray(this.end)).written;
  }

  /** The bytes since the last call. The next output begins behind them. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.bytes.subarray(this.start, this.end);
    this.start = this.end;
    return taken;
  }

  private reserve(size: number): void {
    if (this.end + size <= this.bytes.length) return;
    const length = this.end - this.start;
    const larger = new Uint8Array(Math.max(length + size, length * 2) + (length === 0 ? firstSpare : spare));
    larger.set(this.bytes.subarray(this.start, this.end));
    this.bytes = larger;
    this.start = 0;
    this.end = length;
  }
}
