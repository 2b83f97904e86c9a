import type { Interval } from '../base/windows.ts';
import type { EndpointStatus } from '../schema/endpoint.ts';

/** Where the wire of a public router differs from the interface: what is shown instead. */
export interface Presentation {
  endpointStatus(status: EndpointStatus): EndpointStatus | number;
  /** null: the budget never starts anew. */
  resetInterval(interval: Interval): Interval | null;
}

export const compatNames = ['openrouter'] as const;
export type CompatName = (typeof compatNames)[number];

/** As the interface document has it. */
const asContract: Presentation = { endpointStatus: (status) => status, resetInterval: (interval) => interval };

/** The less, the worse. Of the integers of that wire only 0 is known to mean something: that all is well. */
const statusNumbers: Readonly<Record<EndpointStatus, number>> = { default: 0, degraded: -1, down: -2, disabled: -10 };

const presets: Readonly<Record<CompatName, { brand: string; presentation: Presentation }>> = {
  openrouter: {
    brand: 'openrouter',
    presentation: {
      endpointStatus: (status) => statusNumbers[status],
      resetInterval: (interval) => (interval === 'lifetime' ? null : interval),
    },
  },
};

/** @param name  undefined: the interface document's own wire */
export function presentationOf(name: CompatName | undefined): Presentation {
  return name === undefined ? asContract : presets[name].presentation;
}

/** The brand of a preset; undefined where there is none. */
export function brandOf(name: CompatName | undefined): string | undefined {
  return name === undefined ? undefined : presets[name].brand;
}
