import { definedOnly } from '../../base/defined-only.ts';
import { isIndex, isObject } from '../../base/values.ts';
import type { DecisionQuestion } from '../../schema/decisions/request.ts';
import { type DecisionAnswer, decisionAnswerSchema } from '../../schema/decisions/result.ts';
import { badResponse } from '../shared/values.ts';
import { type DecisionsCodec, jsonTask } from './contract.ts';
import { type OpenAiTaskQuirks, pathOf } from './openai.ts';

/**
 * Decisions as OpenAI defined them.
 * @see https://developers.openai.com/api/reference/resources/decisions/methods/create
 */
export const openaiDecisions: DecisionsCodec<OpenAiTaskQuirks> = {
  lacks: ({ quirks }) =>
    quirks.decisions === false ? { path: 'questions', expected: 'none: it answers no questions' } : null,
  encode: ({ input, questions, wishes, upstreamModel, quirks }) =>
    jsonTask(pathOf(upstreamModel, quirks, 'decisions'), {
      model: upstreamModel,
      input,
      questions: questions.map(definedOnly),
      ...definedOnly(wishes),
    }),
  decode(body, { questions }) {
    if (!isObject(body) || !Array.isArray(body.answers))
      throw badResponse('The provider responded without a list of answers.');
    if (body.answers.length !== questions.length)
      throw badResponse('The provider responded with another number of answers than the request has questions.');
    const answers = body.answers.map((one, at) => answerOf(one, questions[at] as DecisionQuestion));
    const usage = isObject(body.usage) ? body.usage : null;
    const ofInput = isObject(usage?.input_tokens_details) ? usage.input_tokens_details : {};
    const ofOutput = isObject(usage?.output_tokens_details) ? usage.output_tokens_details : {};
    const counted = {
      cached: countIn(ofInput.cached_tokens),
      written: countIn(ofInput.cache_write_tokens),
      output: countIn(usage?.output_tokens),
      reasoning: countIn(ofOutput.reasoning_tokens),
    };
    return {
      found: { answers, counted },
      usage: usage === null ? null : { promptTokens: isIndex(usage.input_tokens) ? usage.input_tokens : null },
    };
  },
};

/** Reads an answer. @throws UpstreamError bad_response for one that is none to the question */
function answerOf(one: unknown, question: DecisionQuestion): DecisionAnswer {
  const parsed = decisionAnswerSchema().safeParse(isObject(one) ? { ...one, name: question.name ?? null } : one);
  if (!parsed.success) throw badResponse('The provider responded with something that is no answer.');
  const { data: answer } = parsed;
  if (answer.type !== question.type && answer.type !== 'refusal')
    throw badResponse('The provider responded with the answer to another kind of question.');
  if (answer.type === 'choice' && question.type === 'choice' && !isOneOf(answer.choice, question))
    throw badResponse('The provider responded with a choice that the question does not have.');
  return answer;
}

function isOneOf(choice: string | boolean, { choices }: Extract<DecisionQuestion, { type: 'choice' }>): boolean {
  return choices.some(({ value }) => value === choice);
}

function countIn(value: unknown): number {
  return isIndex(value) ? value : 0;
}
