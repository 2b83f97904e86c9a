import type { PipelineStage } from '../../schema/envelope.ts';
import type { CompiledPattern, GuardrailAction } from './patterns.ts';

/** Where a guardrail looks: `input` is the request, `output` the response. */
export type Direction = 'input' | 'output';

/** What a guardrail has found in a request or a response: names and numbers, never a text. */
export class Findings {
  readonly direction: Direction;
  readonly #counts = new Map<GuardrailAction, Map<string, number>>();

  constructor(direction: Direction) {
    this.direction = direction;
  }

  /** @param isTooMany  true: what cannot be looked at to its end does not pass */
  note({ name, action }: CompiledPattern, isTooMany: boolean): void {
    const noted = isTooMany && action === 'redact' ? 'block' : action;
    const counts = this.#counts.get(noted) ?? new Map<string, number>();
    this.#counts.set(noted, counts);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  /** Names of the patterns for which the text must not pass. */
  get blocked(): readonly string[] {
    return [...(this.#counts.get('block')?.keys() ?? [])];
  }

  /** One stage for each action that left a text as it is or changed it. */
  stages(id: string, name: string, scope: string): PipelineStage[] {
    const of = this.direction === 'input' ? 'request' : 'response';
    return (['redact', 'flag'] as const).flatMap((action) => {
      const counts = this.#counts.get(action);
      if (counts === undefined) return [];
      const count = [...counts.values()].reduce((sum, one) => sum + one, 0);
      const did = action === 'redact' ? 'redacted' : 'flagged';
      return {
        type: 'guardrail',
        name,
        summary: `${did} ${count} ${count === 1 ? 'match' : 'matches'} in the ${of}`,
        guardrail_id: id,
        guardrail_scope: scope,
        data: { patterns: [...counts.keys()], action, direction: this.direction, count },
      };
    });
  }
}
