import { type Advice, adviceIn } from '../advice.ts';

/** Parameters of a deployment that are read. */
export const knownParams = new Set<string>([
  'model',
  'custom_llm_provider',
  'litellm_credential_name',
  'api_key',
  'api_base',
  'base_url',
  'base_model',
  'api_version',
  'organization',
  'headers',
  'extra_headers',
  'additional_drop_params',
  'account_id',
  'azure_ad_token',
  'tenant_id',
  'client_id',
  'client_secret',
  'azure_username',
  'azure_password',
  'aws_region_name',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'aws_bedrock_runtime_endpoint',
  'aws_role_name',
  'aws_session_name',
  'aws_profile_name',
  'aws_web_identity_token',
  'vertex_project',
  'vertex_location',
  'vertex_ai_project',
  'vertex_ai_location',
  'vertex_credentials',
  'thinking',
  'rpm',
  'tpm',
  'weight',
  'order',
  'timeout',
  'stream_timeout',
  'max_retries',
  'num_retries',
  'input_cost_per_token',
  'output_cost_per_token',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
]);

/** Members of `model_info` that are read, or that say nothing to a gateway. */
export const knownInfo = new Set([
  'id',
  'mode',
  'base_model',
  'description',
  'max_tokens',
  'max_input_tokens',
  'max_output_tokens',
  'input_cost_per_token',
  'output_cost_per_token',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
]);

export const infoNotes: Readonly<Record<string, string>> = {
  access_groups: 'is not kept: a key has the patterns of its models, `models`',
  health_check_model: 'is not kept: see healthCheck in docs/self-hosted.md',
  health_check_timeout: 'is not kept: see healthCheck in docs/self-hosted.md',
  supports_function_calling: 'is not needed: the request says what it needs',
  supports_vision: 'is not needed: the request says what it needs',
};

const params: Readonly<Record<string, Advice>> = {
  allowed_openai_params: ['note', 'is not needed: the gateway knows more fields, and forwards those it does not know'],
  budget_duration: ['problem', 'belongs to a budget of one deployment, which there is none here', budgetAdvice()],
  cache_control_injection_points: [
    'warning',
    'marks no part of the prompt for caching',
    'Let clients send cache_control.',
  ],
  drop_params: ['note', 'is always so: fields that the provider has no word for are left out, and listed as dropped'],
  extra_body: ['warning', 'is not sent', 'Let clients send these fields; fields that we do not know are forwarded.'],
  input_cost_per_second: ['warning', 'is no price of tokens, so the model is unpriced', 'Give it a pricing per token.'],
  max_budget: ['problem', 'is a budget of one deployment, which there is none here', budgetAdvice()],
  max_parallel_requests: [
    'warning',
    'limits no endpoint',
    'rateLimits.workspace.requestsInFlight limits a workspace, overload.maxInFlight the process.',
  ],
  merge_reasoning_content_in_choices: ['warning', 'has no counterpart: reasoning has a field of its own'],
  mock_response: ['warning', 'is not given: the provider is asked', 'Use the sandbox for tests: docs/sandbox.md.'],
  output_cost_per_second: [
    'warning',
    'is no price of tokens, so the model is unpriced',
    'Give it a pricing per token.',
  ],
  region_name: ['warning', 'chooses no endpoint', 'Keep keys to models of one region with their `models`.'],
  tags: [
    'warning',
    'chooses no endpoint',
    'Give each tag a model of its own, and keys the `models` that they may use.',
  ],
  use_in_pass_through: ['note', 'is not needed: no provider is reached but by a model'],
};

function budgetAdvice(): string {
  return 'Limit a workspace or a key instead: npx model-gateway budgets, npx model-gateway keys.';
}

/** Says what becomes of another parameter of a deployment. */
export function paramAdvice(name: string): Advice {
  if (/^(?:mock_|s3_|health_check)/.test(name)) return adviceIn(params, name, ['note', 'is not kept']);
  return adviceIn(params, name, ['warning', 'has no counterpart for one deployment']);
}
