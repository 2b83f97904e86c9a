import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { GuardrailAction } from './pattern.ts';
import type { CompiledPattern } from './patterns.ts';

/** The checked side: `input` is the request, `output` the response. */
export type Direction = 'input' | 'output';

/** The most places that a message names. */
const mostPlaces = 10;

/** The findings of a guardrail in a request or a response: names and numbers, never a text. */
export class Findings {
  readonly direction: Direction;
  readonly #counts = new Map<GuardrailAction, Map<string, number>>();
  readonly #places = new Set<string>();

  constructor(direction: Direction) {
    this.direction = direction;
  }

  /** @param isTooMany  true: the text could not be checked to its end, so a redaction becomes a block */
  note({ name, action }: CompiledPattern, isTooMany: boolean): void {
    const noted = isTooMany && action === 'redact' ? 'block' : action;
    const counts = this.#counts.get(noted) ?? new Map<string, number>();
    this.#counts.set(noted, counts);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  /**
   * Notes a match in a text that cannot be rewritten. A match that had to be redacted is then blocked. @param place
   * such as `tools[0].name`
   */
  noteFixed(pattern: CompiledPattern, place: string): void {
    this.note(pattern, pattern.action === 'redact');
    if (pattern.action === 'redact' && this.#places.size < mostPlaces) this.#places.add(place);
  }

  /** The places of matches that could not be redacted. */
  get places(): readonly string[] {
    return [...this.#places];
  }

  another(): Findings {
    return new Findings(this.direction);
  }

  /** Adds the findings of others, for actions that have no findings here. */
  addMissing(others: Findings): void {
    for (const [action, counts] of others.#counts) if (!this.#counts.has(action)) this.#counts.set(action, counts);
    if (this.#places.size === 0) for (const place of others.#places) this.#places.add(place);
  }

  /** The names of the patterns that block the text. */
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
