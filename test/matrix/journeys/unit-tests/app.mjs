/** The app: a support agent that may look up an order, in at most three steps. */
export async function support(client, question, lookUp) {
  const messages = [{ role: 'user', content: question }];
  const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
  for (let step = 0; step < 3; step += 1) {
    const { choices } = await client.chat.completions.create({ model: 'app/support', messages, tools });
    const { message } = choices[0];
    if (!message.tool_calls) return message.content;
    messages.push(message);
    for (const call of message.tool_calls) {
      const found = await lookUp(JSON.parse(call.function.arguments));
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(found) });
    }
  }
  throw new Error('The agent took too many steps');
}

/** What the app runs with. */
export const options = {
  providers: { openai: { apiKey: process.env.OPENAI_API_KEY ?? 'unset' } },
  models: [{ slug: 'app/support', endpoints: [{ provider: 'openai', model: 'gpt-4.1' }] }],
  apiKeys: [{ key: 'sk-of-the-app' }],
};
