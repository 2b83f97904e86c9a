import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/base/errors.ts';
import { askOfResponses } from '../../../src/formats/responses/request/index.ts';
import { planRoute } from '../../../src/routing/plan.ts';
import { routedChat } from '../../../src/routing/routed.ts';
import { responsesRequestSchema } from '../../../src/schema/responses/responses.ts';
import { inputOf, modelOf } from '../../support/routing.ts';

const blind = modelOf('m/blind', { a: {} }, { inputModalities: ['text'] });
const seeing = modelOf('m/seeing', { b: {} }, { inputModalities: ['text', 'image'] });
const unknown = modelOf('m/unknown', { c: {} });
const image = { type: 'input_image', image_url: 'https://x.test/a.png' };

function plan(models: readonly string[], ...output: object[]) {
  const ask = askOfResponses(
    responsesRequestSchema().parse({
      models,
      input: [
        { role: 'user', content: [image] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output },
      ],
    }),
  );
  const input = inputOf({ models: [blind, seeing, unknown] });
  return planRoute({ ...input, routed: routedChat(ask, input.facts, null) });
}

function failure(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError)
      return { status: error.status, message: error.message, metadata: error.metadata };
    throw error;
  }
  return null;
}

describe('an image as the output of a tool', () => {
  it('goes to models that take images, and to those of which nothing is known', () => {
    const { targets, excluded } = plan(['m/blind', 'm/seeing', 'm/unknown'], image);
    expect(targets.map(({ endpoint }) => endpoint.modelSlug)).toEqual(['m/seeing', 'm/unknown']);
    expect(excluded).toEqual([{ model: 'm/blind', provider: 'a', filter: 'tool_output' }]);
  });
  it('is a 400 that names the item where no model takes it', () => {
    expect(failure(() => plan(['m/blind'], { type: 'input_text', text: 'a' }, image))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^input\[2\]\.output\[1\]: the model takes no image as the output of a tool/),
      metadata: { issues: [{ path: 'input[2].output[1]' }] },
    });
  });
  it('names the part that is not taken, behind others that are', () => {
    const file = { type: 'input_file', file_url: 'https://x.test/a.pdf' };
    expect(failure(() => plan(['m/seeing'], image, file))).toMatchObject({
      message: expect.stringMatching(/^input\[2\]\.output\[1\]: the model takes no file/),
    });
  });
  it('matters, unlike one that the user sends, which only decides the order', () => {
    expect(plan(['m/blind'], { type: 'input_text', text: 'a' }).targets).toHaveLength(1);
  });
});
