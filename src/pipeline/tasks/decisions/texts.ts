import type { DecisionItem, DecisionQuestion, DecisionsRequest } from '../../../schema/decisions/request.ts';
import type { Viewed } from '../view.ts';

/** Shows one place of a request, in order. @returns what stands there instead */
type Show = (shown: Viewed) => Viewed;

/** A part of a message or a question: a text, a picture, or JSON. */
type Part = Exclude<Extract<DecisionQuestion, { type: 'predicate' }>['instructions'], string>[number];
type AnyPart = Part | { type: 'output_text'; text: string } | { type: 'refusal'; refusal: string };

/** The texts of the input and of the questions, in order, as a view has them. */
export function viewedOf(request: DecisionsRequest): readonly Viewed[] {
  const shown: Viewed[] = [];
  withTexts(request, (one) => {
    shown.push(one);
    return one;
  });
  return shown;
}

/**
 * Returns the request with other texts at the same places.
 * @throws Error where a place has lost or gained a part
 */
export function withTexts(request: DecisionsRequest, show: Show): DecisionsRequest {
  const { input, questions } = request;
  return {
    ...request,
    input: typeof input === 'string' ? textOf(show(input)) : input.map((item) => itemWith(item, show)),
    questions: questions.map((question) => questionWith(question, show)),
  };
}

function itemWith(item: DecisionItem, show: Show): DecisionItem {
  if ('content' in item) return { ...item, content: contentWith(item.content, show) } as DecisionItem;
  if ('output' in item) return { ...item, output: contentWith(item.output, show) } as DecisionItem;
  if ('input' in item) return { ...item, input: textOf(show(item.input)) };
  return { ...item, arguments: textOf(show(item.arguments)) };
}

/** A question, and the texts of its choices or levels: the model reads them all. */
function questionWith(question: DecisionQuestion, show: Show): DecisionQuestion {
  const instructions = contentWith(question.instructions, show) as DecisionQuestion['instructions'];
  const name = question.name ? { name: textOf(show(question.name)) } : {};
  if (question.type === 'predicate') return { ...question, instructions, ...name };
  if (question.type === 'score') {
    const levels = question.levels.map(({ label, ...one }) => ({
      label: textOf(show(label)),
      ...describedWith(one, show),
    }));
    return { ...question, instructions, ...name, levels };
  }
  const choices = question.choices.map(({ value, ...one }) => ({
    value: typeof value === 'string' ? textOf(show(value)) : value,
    ...describedWith(one, show),
  }));
  return { ...question, instructions, ...name, choices };
}

function describedWith({ description }: { description?: string | undefined }, show: Show) {
  return description === undefined ? {} : { description: textOf(show(description)) };
}

function contentWith(content: string | readonly AnyPart[], show: Show): string | readonly AnyPart[] {
  if (typeof content === 'string') return textOf(show(content));
  const shown = show(content.map(shownPart));
  if (typeof shown === 'string' || shown.length !== content.length)
    throw new Error(`expected ${content.length} parts, as the request has them`);
  return content.map((part, at) => partWith(part, shown[at] as Exclude<Viewed, string>[number]));
}

function shownPart(part: AnyPart) {
  switch (part.type) {
    case 'input_image':
      return { type: 'image_url', image_url: { url: part.image_url } };
    case 'input_json':
      return { type: 'text', text: JSON.stringify(part.data) };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    default:
      return { type: 'text', text: part.text };
  }
}

function partWith(part: AnyPart, shown: Exclude<Viewed, string>[number]): AnyPart {
  if (part.type === 'input_image') {
    const { url } = (shown.image_url ?? {}) as { url?: unknown };
    if (typeof url !== 'string') throw new Error('expected a picture where the request has one');
    return url === part.image_url ? part : { ...part, image_url: url };
  }
  const text = textOf([shown]);
  if (part.type === 'refusal') return { ...part, refusal: text };
  if (part.type !== 'input_json') return { ...part, text };
  if (text === JSON.stringify(part.data)) return part;
  return jsonPart(text) ?? { type: 'input_text', text };
}

/** Returns a part of JSON of a text that a guardrail has changed; null: it is JSON no more. */
function jsonPart(text: string): Part | null {
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === 'object' && data !== null ? ({ type: 'input_json', data } as Part) : null;
  } catch {
    return null;
  }
}

function textOf(viewed: Viewed): string {
  if (typeof viewed === 'string') return viewed;
  const text = viewed.length === 1 ? viewed[0]?.text : undefined;
  if (typeof text !== 'string') throw new Error('expected one text where the request has one');
  return text;
}
