// The model that client libraries talk to, in no wire format. It greets; where it has a tool, it thinks, calls the tool
// twice in one answer, and says what came of it.

export const greeting = 'Hello – “there”.';
export const prompt = 'How is the weather in Oslo and Rome?';
export const cities = ['Oslo', 'Rome'];
/** What the tool says of a city. */
export const weatherIn = (city) => `${city}: ${city.length * 7} degrees`;
export const forecast = cities.map(weatherIn).join(', ');
const thoughts = { greet: 'A greeting will do.', call: 'I need the weather. ✓', answer: 'Now I know.' };
export const thoughtAt = (step) => thoughts[step];

/** What the model says and calls next; see `startUpstream`. */
export function answerTo({ tools, texts }) {
  // A result is what the tool has said; strings of JSON and other wraps of a client around it do no harm.
  const known = cities.map(weatherIn).filter((text) => texts.some((one) => one.includes(text)));
  const [tool] = tools;
  if (known.length === cities.length) return answer('answer', known.join(', '), []);
  if (tool === undefined || !texts.some((text) => text.includes(prompt))) return answer('greet', greeting, []);
  return answer(
    'call',
    'I look. ',
    cities.map((city) => ({ tool, input: { city } })),
  );
}

const answer = (step, text, calls) => ({ step, reasoning: thoughts[step], text, calls });

export const isThought = (text) => Object.values(thoughts).includes(text);
