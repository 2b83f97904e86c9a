import type { NextConfig } from 'next';

const config: NextConfig = {
  // Left as it is in node_modules: the gateway chooses its HTTP client by the runtime it finds itself in.
  serverExternalPackages: ['model-gateway'],
};

export default config;
