/** The groups with long work that wait for the event loop. A process has one loop, and so one queue. */
const waiting = new Map<string, (() => void)[]>();
let isRunning = false;

/**
 * Waits for a turn: other work of the event loop comes first, then one that waits, and so on. Groups take turns, so
 * that a group with many waiting tasks delays no other by more than one turn each.
 * @param group  the owner of the work, such as the id of a workspace
 */
export function turn(group: string): Promise<void> {
  return new Promise((resolve) => {
    const queue = waiting.get(group);
    if (queue === undefined) waiting.set(group, [resolve]);
    else queue.push(resolve);
    if (!isRunning) schedule();
  });
}

function schedule(): void {
  isRunning = true;
  // Browsers and some workers have no `setImmediate`.
  (globalThis.setImmediate ?? setTimeout)(runNext);
}

function runNext(): void {
  const [first] = waiting;
  if (first === undefined) {
    isRunning = false;
    return;
  }
  const [group, queue] = first;
  // The group goes to the end of the line.
  waiting.delete(group);
  const resolve = queue.shift();
  if (queue.length > 0) waiting.set(group, queue);
  resolve?.();
  // Scheduled after the work of this turn, which begins in a microtask.
  schedule();
}
