/**
 * The work that may still be done for one response. Steps are counted, not timed: the same text always ends the same
 * way.
 */
export interface Steps {
  left: number;
}

/** The error of a response that would take more work than it may. */
export class OutOfSteps extends Error {
  override name = 'OutOfSteps';
}

/** Counts work before it is done. @throws OutOfSteps where no more may be done */
export function spend(steps: Steps, count: number): void {
  steps.left -= count;
  if (steps.left < 0) throw new OutOfSteps('The response takes more steps than it may');
}

/** Counts characters that the engine itself reads, as in JSON.parse, which takes a fraction of the time. */
export function spendQuick(steps: Steps, chars: number): void {
  spend(steps, chars / 8);
}
