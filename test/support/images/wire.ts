/**
 * Images as providers write them, made after public descriptions: `ImagesResponse` and the stream events of openai
 * 7.57, `ImageDataB64` of together-ai 0.52, `generateContent` and Imagen's `predict` of @google/genai 3.3.
 */
import { fetchEvents } from './events.ts';

export { fetchEvents };

export const b64 = 'aW1hZ2U=';
export const partialB64 = 'cGFydGlhbA==';

export const openaiUsage = {
  input_tokens: 20,
  input_tokens_details: { image_tokens: 0, text_tokens: 20 },
  output_tokens: 4_160,
  total_tokens: 4_180,
};

const facts = { background: 'opaque', output_format: 'png', quality: 'high', size: '1024x1024' };

export function ofOpenAi(count = 1, usage: object | null = openaiUsage) {
  const data = Array.from({ length: count }, () => ({ b64_json: b64 }));
  return { created: 1_700_000_000, ...facts, data, ...(usage === null ? {} : { usage }) };
}

export function openaiEvent(kind: string, fields: object): string {
  const event = { type: kind, created_at: 1_700_000_000, ...facts, ...fields };
  return `event: ${kind}\ndata: ${JSON.stringify(event)}\n\n`;
}

export function partialEvent(index: number, prefix = 'image_generation'): string {
  return openaiEvent(`${prefix}.partial_image`, { b64_json: partialB64, partial_image_index: index });
}

export function completedEvent(usage: object | null = openaiUsage, prefix = 'image_generation'): string {
  return openaiEvent(`${prefix}.completed`, { b64_json: b64, ...(usage === null ? {} : { usage }) });
}

export const ofTogether = {
  id: 'x',
  model: 'black-forest-labs/FLUX.1-schnell',
  object: 'list',
  data: [{ index: 0, b64_json: b64, type: 'b64_json' }],
};

export const ofGemini = {
  candidates: [
    {
      content: { role: 'model', parts: [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: b64 } }] },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: {
    promptTokenCount: 9,
    candidatesTokenCount: 1_290,
    totalTokenCount: 1_299,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
  },
};

export const ofImagen = {
  predictions: [
    { mimeType: 'image/png', bytesBase64Encoded: b64 },
    { mimeType: 'image/png', bytesBase64Encoded: b64 },
  ],
};
