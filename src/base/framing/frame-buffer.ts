const empty = new Uint8Array(0);

/** The buffer that framers are built on. It does not copy bytes unless a frame continues in the next ones. */
export class FrameBuffer {
  buffer: Uint8Array = empty;
  start = 0;
  end = 0;
  #filled = 0;
  #isOwned = false;

  get length(): number {
    return this.#filled;
  }

  push(bytes: Uint8Array): void {
    const held = this.#filled - this.end;
    if (held === 0) {
      this.buffer = bytes;
      this.#isOwned = false;
      this.start = this.end = 0;
      this.#filled = bytes.length;
      return;
    }
    if (!this.#isOwned || this.#filled + bytes.length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(held + bytes.length, held * 2, 1024));
      larger.set(this.buffer.subarray(this.end, this.#filled));
      this.buffer = larger;
      this.#isOwned = true;
      this.#filled = held;
      this.end = 0;
    }
    this.buffer.set(bytes, this.#filled);
    this.#filled += bytes.length;
    this.start = this.end;
  }

  skipTo(position: number): void {
    this.start = this.end = position;
  }

  release(): void {
    if (this.end < this.#filled || this.#filled === 0) return;
    this.buffer = empty;
    this.start = this.end = this.#filled = 0;
    this.#isOwned = false;
  }
}
