import { type HoldScope, isRefusal, type Reservation } from '../../../src/stores/spending/spending.ts';
import type { ManualClock } from '../../support/manual-clock.ts';
import type { Bench } from '../stores/spending/bench.ts';

/** Asks late and answers late: what is asked first may be answered last. What is held is known with the answer. */
export function slowSpending(spending: Bench['spending'], clock: ManualClock, random: () => number): Bench['spending'] {
  const pause = () => new Promise<void>((resolve) => clock.after(Math.floor(random() * 12), resolve));
  const slowly = async <T>(ask: () => Promise<T>): Promise<T> => {
    await pause();
    try {
      return await ask();
    } finally {
      await pause();
    }
  };
  const slowed = (reservation: Reservation): Reservation => {
    let { nanoUsd } = reservation;
    return {
      get nanoUsd() {
        return nanoUsd;
      },
      isLimited: reservation.isLimited,
      async extend(moreNanoUsd) {
        const extended = await slowly(() => reservation.extend(moreNanoUsd));
        if (extended.isHeld) nanoUsd += moreNanoUsd;
        return extended;
      },
      settle: (actual) => reservation.settle(actual),
    };
  };
  return {
    ...spending,
    async hold(scope: HoldScope, nanoUsd: number) {
      const held = await slowly(() => spending.hold(scope, nanoUsd));
      return isRefusal(held) ? held : slowed(held);
    },
  };
}
