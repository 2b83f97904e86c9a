import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { Needs } from '../needs.ts';

/** The features that make a request difficult, each from 0 to 1. */
export interface Features {
  length: number;
  code: number;
  maths: number;
  tools: number;
  language: number;
  schema: number;
}

/** The share of the remaining ease that each feature takes away when it is 1. */
export const featureWeights: Readonly<Record<keyof Features, number>> = {
  length: 0.6,
  code: 0.5,
  maths: 0.6,
  tools: 0.4,
  language: 0.15,
  schema: 0.3,
};

/** Tokens of a prompt whose length counts in full. */
const longPromptTokens = 32_768;
/** Tools that count in full. */
const manyTools = 8;
/** Marks in the sample that count in full. */
const manyMarks = 8;

/** Each expression is a choice of fixed words, so that searching takes linear time. */
const codeMark = /```|=>|\(\)|[{};]\n|\b(?:function|class|def|return|import|const|async|SELECT|TypeError|Exception)\b/g;
const mathsMark =
  /\$\$|\\(?:frac|sum|int|sqrt|lim)|[∑∫√≤≥∀∃∞π]|\b(?:prove|proof|theorem|lemma|integral|derivative|equation|probability|matrix|polynomial)\b/gi;
const letter = /\p{L}/gu;
const otherLetter = /(?!\p{Script=Latin})\p{L}/gu;

/** Rates a request without calling a model. The same request always has the same features. */
export function featuresOf(request: ChatRequest, { promptTokens }: Needs): Features {
  const text = sampleOf(request);
  const letters = countOf(text, letter);
  const format = request.response_format?.type;
  return {
    length: Math.min(1, Math.log2(1 + promptTokens) / Math.log2(1 + longPromptTokens)) ** 2,
    code: Math.min(1, countOf(text, codeMark) / manyMarks),
    maths: Math.min(1, countOf(text, mathsMark) / manyMarks),
    tools: Math.min(1, (request.tools?.length ?? 0) / manyTools),
    language: letters === 0 ? 0 : countOf(text, otherLetter) / letters,
    schema: format === 'json_schema' ? 1 : format === 'json_object' ? 0.5 : 0,
  };
}

/** @returns 0, easy, to 1, hard */
export function difficultyOf(features: Features): number {
  let ease = 1;
  for (const [name, weight] of Object.entries(featureWeights)) ease *= 1 - weight * features[name as keyof Features];
  return 1 - ease;
}

/** Characters of the sample, at most: a long prompt must not keep other requests waiting. */
const sampleChars = 16_384;
/** Characters from the beginning and from the end of one text, at most. */
const halfChars = 2_048;
/** Texts of the sample, at most. */
const sampleTexts = 32;

/** Returns parts of the request's texts, the last messages first: they hold the question. */
function sampleOf({ messages }: ChatRequest): string {
  const parts: string[] = [];
  let left = sampleChars;
  const add = (text: string) => {
    const taken = text.length <= 2 * halfChars ? text : `${text.slice(0, halfChars)}\n${text.slice(-halfChars)}`;
    const part = taken.slice(0, left);
    left -= part.length;
    parts.push(part);
  };
  for (let at = messages.length - 1; at >= 0 && left > 0 && parts.length < sampleTexts; at--) {
    const content = messages[at]?.content;
    if (typeof content === 'string') add(content);
    else {
      for (const part of content?.slice(-sampleTexts) ?? []) {
        const { text } = part as { text?: unknown };
        if (typeof text === 'string' && left > 0) add(text);
      }
    }
    if (at < messages.length - 4 * sampleTexts) break;
  }
  return parts.join('\n');
}

function countOf(text: string, mark: RegExp): number {
  return text.match(mark)?.length ?? 0;
}
