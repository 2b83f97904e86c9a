const windowMs = 60_000;
/** The most keys, and reasons, that are told apart in a window. */
const mostSums = 1_000;

/** Refusals of one kind, behind the first one. */
interface Sum {
  readonly fields: object;
  further: number;
}

/** Sums of refusals, which one caller can provoke without end: a wrong key, a missing right, a flood. */
export interface RefusalSums {
  /** Writes the sums of a window that is over. To be called with the time of every record. */
  endWindow(nowMs: number): void;
  /**
   * Counts a refusal.
   * @param fields  for the line of its sum
   * @param names   the values that tell it from others
   * @returns false: it is one of several in this window, and has no line of its own
   */
  isFirst(fields: object, names: readonly unknown[]): boolean;
}

export function refusalSums(logger: { warn(fields: object, message: string): void }): RefusalSums {
  let startMs = Number.NEGATIVE_INFINITY;
  let sums = new Map<string, Sum>();
  return {
    endWindow(nowMs) {
      if (nowMs - startMs < windowMs && nowMs >= startMs) return;
      startMs = nowMs;
      const ended = sums;
      sums = new Map();
      for (const { fields, further } of ended.values())
        if (further > 0) logger.warn({ ...fields, further }, 'further refusals in a minute');
    },
    isFirst(fields, names) {
      const key = JSON.stringify(names);
      const isFull = sums.size >= mostSums;
      const known = sums.get(key) ?? (isFull ? sums.get('') : undefined);
      if (known !== undefined) known.further++;
      else if (isFull) sums.set('', { fields: { others: true }, further: 1 });
      else sums.set(key, { fields, further: 0 });
      return known === undefined && !isFull;
    },
  };
}
