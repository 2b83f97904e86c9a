import type { Interval } from '../base/windows.ts';
import type { EndpointStatus } from '../schema/models/endpoint.ts';

/** The forms of values for which a public router differs from the interface document. */
export interface Presentation {
  endpointStatus(status: EndpointStatus): EndpointStatus | number;
  /** null: the budget never resets. */
  resetInterval(interval: Interval): Interval | null;
  /** An amount of USD that may not be known. */
  usd(amount: number | null): number | null;
  /** The name in sums, such as that of a model; null: there is none. */
  activityName(name: string | null): string | null;
  /**
   * true: a Responses object has every field that its specification demands, with null where nothing is known. false: it
   * leaves these out.
   */
  wholeResponses: boolean;
  /** The form of speech where a request names none. */
  soundForm: 'mp3' | 'pcm';
}

export const compatNames = ['openrouter'] as const;
export type CompatName = (typeof compatNames)[number];

/** The values of the interface document. */
const asContract: Presentation = {
  endpointStatus: (status) => status,
  resetInterval: (interval) => interval,
  usd: (amount) => amount,
  activityName: (name) => name,
  wholeResponses: true,
  soundForm: 'mp3',
};

/** A lower number is a worse status. The public router documents only 0, which means healthy. */
const statusNumbers: Readonly<Record<EndpointStatus, number>> = { default: 0, degraded: -1, down: -2, disabled: -10 };

const presets: Readonly<Record<CompatName, { brand: string; presentation: Presentation }>> = {
  openrouter: {
    brand: 'openrouter',
    presentation: {
      endpointStatus: (status) => statusNumbers[status],
      resetInterval: (interval) => (interval === 'lifetime' ? null : interval),
      // Clients of the public router accept only numbers, and only texts.
      usd: (amount) => amount ?? 0,
      activityName: (name) => name ?? '',
      // Its clients take no null there.
      wholeResponses: false,
      soundForm: 'pcm',
    },
  },
};

/** @param name  undefined: the values of the interface document */
export function presentationOf(name: CompatName | undefined): Presentation {
  return name === undefined ? asContract : presets[name].presentation;
}

/** Returns the brand of a preset; undefined: no preset. */
export function brandOf(name: CompatName | undefined): string | undefined {
  return name === undefined ? undefined : presets[name].brand;
}
