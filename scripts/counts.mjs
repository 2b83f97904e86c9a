/** The counts of a run before its first test. */
export const noCounts = Object.freeze({ passed: 0, failed: 0, skipped: 0 });

export function addCounts(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** Formats the last line of every test command. */
export function countsLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** Reads the last such line of a command's output; the skipped count may be absent. null: there is no such line. */
export function findCounts(output) {
  const matches = [...output.matchAll(/(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/g)];
  const last = matches.at(-1);
  return last === undefined
    ? null
    : { passed: Number(last[1]), failed: Number(last[2]), skipped: Number(last[3] ?? 0) };
}
