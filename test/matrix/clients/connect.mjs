// How each client is pointed at the gateway; docs/clients.md shows these lines.
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { OpenAIProvider, Runner } from '@openai/agents';
import OpenAI from 'openai';

export function openai({ baseURL, apiKey }) {
  const client = new OpenAI({ baseURL, apiKey });
  return client;
}

/** Without a socket: the gateway is the client's network. */
export function openaiInProcess({ gateway, apiKey }) {
  const client = new OpenAI({ baseURL: 'http://in-process/v1', apiKey, fetch: gateway.fetch });
  return client;
}

export function aiSdk({ baseURL, apiKey, fetch }) {
  const provider = createOpenAICompatible({
    name: 'gateway',
    baseURL,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch,
  });
  return provider;
}

export function aiSdkResponses({ baseURL, apiKey }) {
  const provider = createOpenAI({ baseURL, apiKey });
  return provider;
}

export function agents({ baseURL, apiKey }) {
  const openAIClient = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient, useResponses: false }),
    tracingDisabled: true,
  });
  return runner;
}

export function agentsResponses({ baseURL, apiKey }) {
  const openAIClient = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient }),
    tracingDisabled: true,
  });
  return runner;
}

export function langchain({ baseURL, apiKey }, model, options = {}) {
  const chat = new ChatOpenAI({
    model,
    apiKey,
    configuration: { baseURL },
    maxRetries: 0,
    ...options,
  });
  return chat;
}
