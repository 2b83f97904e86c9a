/**
 * Runs the same step of many requests one after the other: of those that ask for it within one turn of the event loop.
 * From the second request on, the processor has the code of the step in its caches. See "Requests in step" in
 * docs/performance.md. Where the runtime has no `setImmediate`, as in browsers, a step runs at once.
 * @param failed   gets what `run` throws
 * @param isAlone  true: no other request is there to wait for, and the step runs at once
 */
export type Cohort = (run: () => void, failed: (error: unknown) => void, isAlone: boolean) => void;

/** One cohort for each kind of step: steps that run together should be alike. */
export function createCohort(): Cohort {
  // Two lists in turn, whose places are emptied, so that no list keeps requests alive: docs/performance.md, "Requests in
  // step".
  let waiting: (Step | null)[] = [];
  let running: (Step | null)[] = [];
  let count = 0;
  const runAll = () => {
    [waiting, running] = [running, waiting];
    const last = count;
    count = 0;
    for (let at = 0; at < last; at++) {
      const step = running[at] as Step;
      running[at] = null;
      step.take();
    }
  };
  return (run, failed, isAlone) => {
    const step = new Step(run, failed);
    if ((isAlone && count === 0) || globalThis.setImmediate === undefined) return step.take();
    waiting[count++] = step;
    if (count === 1) globalThis.setImmediate(runAll);
  };
}

class Step {
  readonly #run: () => void;
  readonly #failed: (error: unknown) => void;

  constructor(run: () => void, failed: (error: unknown) => void) {
    this.#run = run;
    this.#failed = failed;
  }

  /** Catches the error: the failure of one request must not stop the others. */
  take(): void {
    try {
      this.#run();
    } catch (error) {
      this.#failed(error);
    }
  }
}
