import process from 'node:process';

/** @type {import('model-gateway').GatewayOptions} */
export default {
  providers: {
    sandbox: {}, // responds without a provider
    openai: { apiKey: process.env.OPENAI_API_KEY || undefined },
    local: { baseUrl: process.env.LOCAL_BASE_URL || 'http://host.docker.internal:11434/v1' },
  },
  // Without a store here, the folder in MODEL_GATEWAY_DATA holds what is kept.
  apiKeys: [{ key: process.env.GATEWAY_API_KEY, permissions: ['inference', 'management'] }],
};
