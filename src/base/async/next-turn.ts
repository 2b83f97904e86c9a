/** Waits for the next turn of the event loop, so that other waiting work runs first. */
export function nextTurn(): Promise<void> {
  // Browsers and some workers have no `setImmediate`.
  return new Promise((resolve) => void (globalThis.setImmediate ?? setTimeout)(resolve));
}
