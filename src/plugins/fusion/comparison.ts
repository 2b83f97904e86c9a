import { isObject } from '../../base/values.ts';
import type { ResponseFormat } from '../../schema/chat/chat.ts';

/** The points in which the answers of several models agree and differ. @see reference, FusionAnalysisResult */
export interface Comparison {
  /** The points that all of them make. */
  consensus: string[];
  /** The topics on which they contradict each other. */
  contradictions: { topic: string; stances: { model: string; stance: string }[] }[];
  /** The points that only some of them deal with. */
  partial_coverage: { point: string; models: string[] }[];
  /** The points that only one of them found. */
  unique_insights: { model: string; insight: string }[];
  /** The topics that none of them deals with. */
  blind_spots: string[];
}

/** The judgement of a judge. One that was asked for JSON may write prose. */
export type Judgement = { form: 'json'; comparison: Comparison } | { form: 'prose'; text: string };

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const listOf = (properties: Record<string, object>) => ({
  type: 'array',
  items: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
});
const properties = {
  consensus: texts,
  contradictions: listOf({ topic: text, stances: listOf({ model: text, stance: text }) }),
  partial_coverage: listOf({ point: text, models: texts }),
  unique_insights: listOf({ model: text, insight: text }),
  blind_spots: texts,
};

export const comparisonFormat: ResponseFormat = {
  type: 'json_schema',
  json_schema: {
    name: 'comparison',
    strict: true,
    schema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  },
};

/** The most characters of a judge's text that are read: JSON within its output limit is far shorter. */
const maxChars = 1_000_000;

/**
 * Reads the text of a judge: JSON, JSON in a fence or among prose, or prose.
 * @returns null: it wrote nothing
 */
export function readJudgement(written: string): Judgement | null {
  const said = written.slice(0, maxChars).trim();
  if (said === '') return null;
  for (const candidate of candidatesIn(said)) {
    const comparison = comparisonIn(candidate);
    if (comparison !== null) return { form: 'json', comparison };
  }
  return { form: 'prose', text: said };
}

/** Returns the texts that may be the object, the likeliest first. At most two: each is parsed once. */
function candidatesIn(said: string): string[] {
  const start = said.indexOf('{');
  const end = said.lastIndexOf('}');
  return start === -1 || end < start ? [] : [...new Set([said, said.slice(start, end + 1)])];
}

function comparisonIn(json: string): Comparison | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null; // not JSON, or nested too deep
  }
  if (!isObject(value) || !Object.keys(properties).some((name) => Object.hasOwn(value as object, name))) return null;
  const fields: Record<string, unknown> = value;
  return {
    consensus: textsIn(fields.consensus),
    contradictions: objectsIn(fields.contradictions).map(({ topic, stances }) => ({
      topic: textIn(topic),
      stances: objectsIn(stances).map(({ model, stance }) => ({ model: textIn(model), stance: textIn(stance) })),
    })),
    partial_coverage: objectsIn(fields.partial_coverage).map(({ point, models }) => ({
      point: textIn(point),
      models: textsIn(models),
    })),
    unique_insights: objectsIn(fields.unique_insights).map(({ model, insight }) => ({
      model: textIn(model),
      insight: textIn(insight),
    })),
    blind_spots: textsIn(fields.blind_spots),
  };
}

/** Returns the texts of a list. A text in place of the list is its only element. */
function textsIn(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string' && one !== '');
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return (Array.isArray(value) ? value : [value]).filter(isObject) as Record<string, unknown>[];
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
