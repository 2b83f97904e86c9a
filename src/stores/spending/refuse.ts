import { isoTime } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import { nanoToUsd } from '../../base/money.ts';
import { intervals } from '../../base/windows.ts';
import type { LimitedWindow, WindowState } from '../ledger/ledger.ts';
import type { Refusal } from './spending.ts';
import { type LimitScope, scopeOf } from './windows.ts';

/**
 * Names the limit that refuses a hold. Of several limits, the broadest interval comes first, and the workspace before
 * an api key.
 * @param states  of the windows, in the same order
 */
export function refuse(
  windows: readonly LimitedWindow[],
  states: readonly WindowState[],
  amountNanoUsd: number,
): Refusal {
  const asked = windows.map((window, at) => {
    const { spentNanoUsd, heldNanoUsd } = states[at] as WindowState;
    return { ...window, spentNanoUsd, heldNanoUsd, roomNanoUsd: window.limitNanoUsd - spentNanoUsd - heldNanoUsd };
  });
  const availableNanoUsd = Math.max(0, Math.min(...asked.map(({ roomNanoUsd }) => roomNanoUsd)));
  const errorFor = (nanoUsd: number, fittingMaxTokens = 0) => {
    const exhausted = asked.filter(({ roomNanoUsd }) => roomNanoUsd < nanoUsd);
    // Sorting is stable, and the workspace's windows come first.
    const [broadest] = exhausted.sort((a, b) => intervals.indexOf(b.interval) - intervals.indexOf(a.interval));
    if (broadest) return refusalOf(broadest, nanoUsd, fittingMaxTokens);
    throw new GatewayError('unavailable', 'The budget could not be read; try again', {
      cause: new Error('A ledger refused a hold that fits'),
    });
  };
  return { error: errorFor(amountNanoUsd), errorFor, availableNanoUsd };
}

function refusalOf(window: LimitedWindow & WindowState, amountNanoUsd: number, fittingMaxTokens: number): GatewayError {
  const { interval, endMs, limitNanoUsd, spentNanoUsd, heldNanoUsd, guardrail } = window;
  const scope = scopeOf(window);
  const limit = `the ${interval} ${nameOf[scope]}`;
  const resetsAt = endMs === null ? null : isoTime(endMs);
  const message = [
    `This request may cost up to ${dollars(amountNanoUsd)}, which ${limit} does not cover:`,
    `of ${dollars(limitNanoUsd)}, ${dollars(spentNanoUsd)} are spent`,
    `and ${dollars(heldNanoUsd)} are held for requests in flight.`,
    resetsAt === null ? 'It never resets.' : `It resets at ${resetsAt}.`,
    ...(fittingMaxTokens > 0 ? [`With max_tokens of at most ${fittingMaxTokens} the request would fit.`] : []),
  ].join(' ');
  return new GatewayError('payment_required', message, {
    metadata: {
      scope,
      ...(guardrail === undefined ? {} : { guardrail_id: guardrail.id }),
      interval,
      limit_usd: nanoToUsd(limitNanoUsd),
      spent_usd: nanoToUsd(spentNanoUsd),
      held_usd: nanoToUsd(heldNanoUsd),
      resets_at: resetsAt,
      ...(fittingMaxTokens > 0 ? { fitting_max_tokens: fittingMaxTokens } : {}),
    },
  });
}

const nameOf: Record<LimitScope, string> = {
  workspace: 'budget of this workspace',
  key: 'limit of this API key',
  guardrail: 'budget that a guardrail gives this API key',
};

/** Writes `$1.50` or `$0.000012`: at least cents, and otherwise all digits. */
function dollars(nanoUsd: number): string {
  const digits = String(nanoUsd).padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0{1,7}$/, '');
  return `$${digits.slice(0, -9)}.${fraction}`;
}
