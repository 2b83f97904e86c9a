/**
 * A signature that stands for calls that another model made: Gemini 3 refuses a call without one.
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures "FAQs"
 */
export const noSignature = 'skip_thought_signature_validator';
