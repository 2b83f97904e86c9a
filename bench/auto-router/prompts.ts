/** A prompt with the least quality of a model that responds well to it, 0 to 1. Made up, not measured. */
export interface LabelledPrompt {
  text: string;
  needs: number;
}

const easy = [
  'Hi',
  'Thanks, bye!',
  'What is the capital of France?',
  'Say hello in Spanish.',
  'Name three colours.',
  'Is it "their" or "there"?',
];
const middling = [
  'Write a function in Python: def add(a, b), then return the sum. Use import typing.',
  'Why does `const f = () => x` throw a TypeError here? ```ts\nconst f = () => x;\n```',
  'Solve the equation x + 4 = 9 and check it with a second equation.',
  'Объясни, почему небо голубое.',
];
const hard = [
  'Prove the theorem: the integral of a polynomial is a polynomial. Use a lemma on the derivative, and one equation.',
  'Prove that \\frac{1}{n} \\sum x has the limit ∫ x. State each lemma, the probability, the matrix and the theorem.',
  '```ts\nimport x\nconst f = async () => {\n  return class {\n    function () {\n  }\n}\n```\nFind the Exception.',
];

/** The same each time. */
export const prompts: readonly LabelledPrompt[] = [
  ...easy.map((text) => ({ text, needs: 0.2 })),
  ...middling.map((text) => ({ text, needs: 0.55 })),
  ...hard.map((text) => ({ text, needs: 0.8 })),
];
