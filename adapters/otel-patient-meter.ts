import type { OtelAttributes, OtelInstrumentOptions, OtelMeter } from './otel-api.ts';

/** So many values wait at most: those of some 100 requests. */
const mostWaiting = 512;

/** Takes values. */
type Take = (value: number, labels: OtelAttributes) => void;

/**
 * Keeps values back until metrics are collected, or until they are many, and then gives them to the SDK one after the
 * other, so that the SDK's code runs from the processor's caches.
 */
export class PatientMeter {
  readonly #meter: OtelMeter;
  /** Takers, values and labels at the same places: an object for each value would be garbage. */
  readonly #takers: (Take | null)[] = [];
  readonly #values: number[] = [];
  readonly #labels: (OtelAttributes | null)[] = [];
  #count = 0;

  constructor(meter: OtelMeter) {
    this.#meter = meter;
    // The SDK asks for what is observed before it collects what was recorded. This one is never observed, and so never
    // exported.
    const asked = meter.createObservableGauge('gateway.collecting', {});
    meter.addBatchObservableCallback(() => this.flush(), [asked]);
  }

  createHistogram(name: string, options: OtelInstrumentOptions): { record: Take } {
    const histogram = this.#meter.createHistogram(name, options);
    return { record: this.#patient((value, labels) => histogram.record(value, labels)) };
  }

  createCounter(name: string, options: OtelInstrumentOptions): { add: Take } {
    const counter = this.#meter.createCounter(name, options);
    return { add: this.#patient((value, labels) => counter.add(value, labels)) };
  }

  /** Gives all values that wait to the SDK. */
  flush(): void {
    const count = this.#count;
    this.#count = 0;
    for (let at = 0; at < count; at++) {
      const take = this.#takers[at] as Take;
      const labels = this.#labels[at] as OtelAttributes;
      this.#takers[at] = this.#labels[at] = null;
      try {
        take(this.#values[at] as number, labels);
      } catch {
        // Telemetry fails open: the values of the other instruments are taken.
      }
    }
  }

  #patient(take: Take): Take {
    return (value, labels) => {
      const at = this.#count++;
      this.#takers[at] = take;
      this.#values[at] = value;
      this.#labels[at] = labels;
      if (this.#count === mostWaiting) this.flush();
    };
  }
}
