/**
 * Costs of recorded answers, worked out by fractions and from the recordings alone: not by the code that is tested,
 * which agrees or is wrong. The recordings lie beside the project; here are their names, a price for each, and what
 * they come to.
 */

/** In USD, as decimals: tokens by the million, everything else each. */
export interface GoldenPrice {
  prompt: string;
  completion: string;
  cacheRead?: string;
  cacheWrite?: string;
  cacheWriteHour?: string;
  reasoning?: string;
  image?: string;
  request?: string;
  webSearch?: string;
}

/** List prices of some day where one is known. Some have a kind added that the recording holds. */
export const goldenPrices = {
  'qwen3-max': { prompt: '1.2', completion: '6', cacheRead: '0.24', reasoning: '8.4' },
  'gpt-35-turbo': { prompt: '0.5', completion: '1.5' },
  'gpt-4.1-mini': { prompt: '0.4', completion: '1.6', cacheRead: '0.1', webSearch: '0.01' },
  'gpt-5-nano': { prompt: '0.05', completion: '0.4', cacheRead: '0.005' },
  'zai-glm-4.7': { prompt: '2.25', completion: '2.75' },
  'zai-glm-4.7 cached': { prompt: '2.25', completion: '2.75', cacheRead: '1.125' },
  'gpt-oss-120b': { prompt: '0.15', completion: '0.6', cacheRead: '0.075' },
  'gpt-oss-120b cerebras': { prompt: '0.35', completion: '0.75' },
  'llama-3.3-70b': { prompt: '0.59', completion: '0.79' },
  'llama-3.3-70b crusoe': { prompt: '0.25', completion: '0.75' },
  'glm-5.2': { prompt: '1', completion: '3.2', cacheRead: '0.2' },
  'deepseek-chat': { prompt: '0.28', completion: '0.42', cacheRead: '0.028' },
  'deepseek-v4-flash': { prompt: '0.14', completion: '0.28', cacheRead: '0.0028' },
  'deepseek-reasoner': { prompt: '0.55', completion: '2.19', cacheRead: '0.14' },
  'gemini-2.5-pro': { prompt: '1.25', completion: '10', cacheRead: '0.125' },
  'llama3-8b': { prompt: '0.05', completion: '0.08' },
  'deepseek-r1-distill': { prompt: '0.75', completion: '0.99' },
  'llama-4-maverick': { prompt: '0.2', completion: '0.6' },
  'llama-4-maverick, per image': { prompt: '0.2', completion: '0.6', image: '0.0006684' },
  'llama-4-scout': { prompt: '0.11', completion: '0.34' },
  'qwen3-32b': { prompt: '0.29', completion: '0.59' },
  'llama-3.1-8b': { prompt: '0.02', completion: '0.05' },
  'deepseek-r1': { prompt: '3', completion: '7' },
  'qwen2.5-vl-72b, per image': { prompt: '0.25', completion: '0.75', image: '0.0005' },
  'kimi-k2.6': { prompt: '0.95', completion: '4', cacheRead: '0.16' },
  'kimi-k3': { prompt: '1.15', completion: '4.5', cacheRead: '0.2', reasoning: '3.3' },
  free: { prompt: '0', completion: '0' },
  'grok-3-mini': { prompt: '0.3', completion: '0.5', cacheRead: '0.075' },
  'grok-4': { prompt: '3', completion: '15', cacheRead: '0.75' },
  'gpt-3.5-turbo': { prompt: '0.5', completion: '1.5' },
  'gpt-4': { prompt: '30', completion: '60' },
  'gpt-4o-mini': { prompt: '0.15', completion: '0.6', cacheRead: '0.075' },
  'gpt-5': { prompt: '1.25', completion: '10', cacheRead: '0.125' },
  'sonar, per request': { prompt: '1', completion: '1', request: '0.005' },
  'mixtral-8x7b': { prompt: '0.6', completion: '0.6' },
  'glm-5.3': { prompt: '1.4', completion: '4.4', cacheRead: '0.26' },
  'glm-4.7': { prompt: '0.6', completion: '2.2', cacheRead: '0.11' },
  'glm-4.6v, per image': { prompt: '0.3', completion: '0.9', cacheRead: '0.05', image: '0.00012' },
  'gpt-5-mini': { prompt: '0.25', completion: '2', cacheRead: '0.025' },
  'claude-sonnet': { prompt: '3', completion: '15', cacheRead: '0.3', cacheWrite: '3.75', cacheWriteHour: '6' },
  'gemini-2.5-flash': { prompt: '0.3', completion: '2.5', cacheRead: '0.03', cacheWrite: '0.08333333333333334' },
  'gemini-2.5-flash-lite': { prompt: '0.1', completion: '0.4', cacheRead: '0.01' },
  'gemini-3.6-flash': { prompt: '1.5', completion: '7.5', cacheRead: '0.15' },
  o3: { prompt: '2', completion: '8', cacheRead: '0.5' },
  'mistral-small': { prompt: '0.1', completion: '0.3' },
  'deepseek-chat, with search': { prompt: '0.2574', completion: '1.0287', webSearch: '0.007' },
  'magistral-medium': { prompt: '2', completion: '5' },
  'mistral-tiny': { prompt: '0.25', completion: '0.25' },
  'pixtral-12b': { prompt: '0.15', completion: '0.15' },
  'mistral-large': { prompt: '2', completion: '6', cacheRead: '0.2' },
} as const satisfies Record<string, GoldenPrice>;

export interface GoldenCost {
  /** In the folder of recordings; `#2` for the second of several in one file. */
  recording: string;
  price: keyof typeof goldenPrices;
  nanoUsd: number;
}

const golden = (recording: string, price: keyof typeof goldenPrices, nanoUsd: number): GoldenCost => ({
  recording,
  price,
  nanoUsd,
});

/** Above each the sum, in millionths of a USD: tokens by their price by the million. The result is rounded up. */
export const goldenCosts: readonly GoldenCost[] = [
  // 24 x 1.2 + 1084 x 8.4 + 271 x 6 = 10760.4
  golden('alibaba/alibaba-reasoning.chunks.txt', 'qwen3-max', 10_760_400),
  // 24 x 1.2 + 1353 x 8.4 + 315 x 6 = 13284
  golden('alibaba/alibaba-reasoning.json', 'qwen3-max', 13_284_000),
  // 295 x 1.2 + 22 x 6 = 486
  golden('alibaba/alibaba-tool-call.chunks.txt', 'qwen3-max', 486_000),
  // 15 x 0.5 + 24 x 1.5 = 43.5
  golden('azure/openllmetry.test_chat.0.exchange.json', 'gpt-35-turbo', 43_500),
  // 16 x 0.4 + 22 x 1.6 = 41.6
  golden('azure/openllmetry.test_chat.1.exchange.json', 'gpt-4.1-mini', 41_600),
  // 16 x 0.4 + 30 x 1.6 = 54.4
  golden('azure/openllmetry.test_chat.2.exchange.json', 'gpt-4.1-mini', 54_400),
  // 16 x 0.4 + 35 x 1.6 = 62.4
  golden('azure/openllmetry.test_chat.3.exchange.json', 'gpt-4.1-mini', 62_400),
  // 11 x 0.05 + 203 x 0.4 = 81.75
  golden('azure/openllmetry.test_chat_reasoning.0.exchange.json', 'gpt-5-nano', 81_750),
  // 256 x 1.125 + 66 x 2.25 + 65 x 2.75 = 615.25
  golden('cerebras/cerebras-structured-output-tools.1.json', 'zai-glm-4.7 cached', 615_250),
  // 256 x 1.125 + 138 x 2.25 + 63 x 2.75 = 771.75
  golden('cerebras/cerebras-structured-output-tools.2.json', 'zai-glm-4.7 cached', 771_750),
  // 256 x 1.125 + 66 x 2.25 + 104 x 2.75 = 722.5
  golden('cerebras/cererebras-structured-output-tools.1.chunks.txt', 'zai-glm-4.7 cached', 722_500),
  // 256 x 1.125 + 177 x 2.25 + 122 x 2.75 = 1021.75
  golden('cerebras/cererebras-structured-output-tools.1.chunks.txt#2', 'zai-glm-4.7 cached', 1_021_750),
  // 13 x 2.25 + 7 x 2.75 = 48.5
  golden('cerebras/pydantic.test_cerebras_disable_reasoning_setting.0.exchange.json', 'zai-glm-4.7', 48_500),
  // 79 x 0.35 + 37 x 0.75 = 55.4
  golden(
    'cerebras/pydantic.test_cerebras_thinking_part_survives_multiturn.0.exchange.json',
    'gpt-oss-120b cerebras',
    55_400,
  ),
  // 98 x 0.35 + 47 x 0.75 = 69.55
  golden(
    'cerebras/pydantic.test_cerebras_thinking_part_survives_multiturn.1.exchange.json',
    'gpt-oss-120b cerebras',
    69_550,
  ),
  // 17 x 2.25 + 415 x 2.75 = 1179.5
  golden(
    'cerebras/pydantic.test_cerebras_zai_reasoning_replayed_as_think_tags.0.exchange.json',
    'zai-glm-4.7',
    1_179_500,
  ),
  // 35 x 2.25 + 106 x 2.75 = 370.25
  golden(
    'cerebras/pydantic.test_cerebras_zai_reasoning_replayed_as_think_tags.1.exchange.json',
    'zai-glm-4.7',
    370_250,
  ),
  // 42 x 0.59 + 8 x 0.79 = 31.1
  golden('cerebras/pydantic.test_openai_model_cerebras_provider.0.exchange.json', 'llama-3.3-70b', 31_100),
  // 18 x 2.25 + 2 x 2.75 = 46
  golden(
    'cerebras/pydantic.test_reasoning_wire_contract-cerebras-zai-clear-thinking.0.exchange.json',
    'zai-glm-4.7',
    46_000,
  ),
  // 46 x 0.25 + 14 x 0.75 = 22
  golden('crusoe/pydantic.test_crusoe_model_streaming.0.exchange.json', 'llama-3.3-70b crusoe', 22_000),
  // 20 x 1 + 233 x 3.2 = 765.6
  golden('crusoe/pydantic.test_crusoe_native_output.0.exchange.json', 'glm-5.2', 765_600),
  // 167 x 1 + 37 x 3.2 = 285.4
  golden('crusoe/pydantic.test_crusoe_tool_calling.0.exchange.json', 'glm-5.2', 285_400),
  // 64 x 0.2 + 150 x 1 + 54 x 3.2 = 335.6
  golden('crusoe/pydantic.test_crusoe_tool_calling.1.exchange.json', 'glm-5.2', 335_600),
  // 13 x 0.28 + 400 x 0.42 = 171.64
  golden('deepseek/deepseek-text.chunks.txt', 'deepseek-chat', 171_640),
  // 13 x 0.28 + 300 x 0.42 = 129.64
  golden('deepseek/deepseek-text.json', 'deepseek-chat', 129_640),
  // 512 x 0.0028 + 51 x 0.14 + 116 x 0.28 = 41.0536
  golden(
    'deepseek/pydantic.test_deepseek_deferred_capability_with_thinking.0.exchange.json',
    'deepseek-v4-flash',
    41_054,
  ),
  // 875 x 0.14 + 79 x 0.28 = 144.62
  golden(
    'deepseek/pydantic.test_deepseek_deferred_capability_with_thinking.1.exchange.json',
    'deepseek-v4-flash',
    144_620,
  ),
  // 896 x 0.0028 + 80 x 0.14 + 61 x 0.28 = 30.7888
  golden(
    'deepseek/pydantic.test_deepseek_deferred_capability_with_thinking.2.exchange.json',
    'deepseek-v4-flash',
    30_789,
  ),
  // 12 x 0.55 + 789 x 2.19 = 1734.51
  golden('deepseek/pydantic.test_deepseek_model_thinking_part.0.exchange.json', 'deepseek-reasoner', 1_734_510),
  // 6 x 0.55 + 212 x 2.19 = 467.58
  golden('deepseek/pydantic.test_deepseek_model_thinking_stream.0.exchange.json', 'deepseek-reasoner', 467_580),
  // 35 x 1.25 + 74 x 10 = 783.75
  golden('google/pydantic.test_compatible_api_with_tool_calls_without_id.0.exchange.json', 'gemini-2.5-pro', 783_750),
  // 66 x 1.25 + 34 x 10 = 422.5
  golden('google/pydantic.test_compatible_api_with_tool_calls_without_id.1.exchange.json', 'gemini-2.5-pro', 422_500),
  // 45 x 0.59 + 607 x 0.79 = 506.08
  golden('groq/groq-text.json', 'llama-3.3-70b', 506_080),
  // 18 x 0.05 + 73 x 0.08 = 6.74
  golden('groq/openllmetry.test_chat_streaming_legacy.0.exchange.json', 'llama3-8b', 6_740),
  // 48 x 0.59 + 8 x 0.79 = 34.64
  golden('groq/pydantic.test_extra_headers.0.exchange.json', 'llama-3.3-70b', 34_640),
  // 21 x 0.75 + 1414 x 0.99 = 1415.61
  golden('groq/pydantic.test_groq_model_thinking_part.0.exchange.json', 'deepseek-r1-distill', 1_415_610),
  // 524 x 0.75 + 1590 x 0.99 = 1967.1
  golden('groq/pydantic.test_groq_model_thinking_part.1.exchange.json', 'deepseek-r1-distill', 1_967_100),
  // 177 x 0.15 + 87 x 0.6 = 78.75
  golden('groq/pydantic.test_groq_prompted_output.0.exchange.json', 'gpt-oss-120b', 78_750),
  // 712 x 0.2 + 20 x 0.6 = 154.4
  golden('groq/pydantic.test_image_as_binary_content_tool_response.0.exchange.json', 'llama-4-maverick', 154_400),
  // 1501 x 0.2 + 11 x 0.6 + 1 x 668.4 = 975.2
  golden(
    'groq/pydantic.test_image_as_binary_content_tool_response.1.exchange.json',
    'llama-4-maverick, per image',
    975_200,
  ),
  // 84 x 0.15 + 58 x 0.6 = 47.4
  golden(
    'groq/pydantic.test_reasoning_wire_contract-groq-gpt-oss-explicit-effort-overrides-thinking.0.exchange.json',
    'gpt-oss-120b',
    47_400,
  ),
  // 25 x 0.29 + 2 x 0.59 = 8.43
  golden(
    'groq/pydantic.test_reasoning_wire_contract-groq-qwen3-disable-overrides-effort-setting.0.exchange.json',
    'qwen3-32b',
    8_430,
  ),
  // 16 x 0.11 + 218 x 0.34 = 75.88
  golden('groq/pydantic.test_tool_choice_matrix-none-groq.0.exchange.json', 'llama-4-scout', 75_880),
  // 777 x 0.11 + 304 x 0.34 = 188.83
  golden('groq/pydantic.test_tool_choice_matrix-none_with_output-groq.0.exchange.json', 'llama-4-scout', 188_830),
  // 779 x 0.11 + 65 x 0.34 = 107.79
  golden('groq/pydantic.test_tool_choice_matrix-tools_plus_output-groq.0.exchange.json', 'llama-4-scout', 107_790),
  // 301 x 0.15 + 52 x 0.6 = 76.35
  golden('groq/pydantic.test_tool_use_failed_error.1.exchange.json', 'gpt-oss-120b', 76_350),
  // 256 x 0.075 + 80 x 0.15 + 96 x 0.6 = 88.8
  golden('groq/pydantic.test_tool_use_failed_error.2.exchange.json', 'gpt-oss-120b', 88_800),
  // 304 x 0.15 + 49 x 0.6 = 75
  golden('groq/pydantic.test_tool_use_failed_error_streaming.1.exchange.json', 'gpt-oss-120b', 75_000),
  // 339 x 0.15 + 58 x 0.6 = 85.65
  golden('groq/pydantic.test_tool_use_failed_error_streaming.2.exchange.json', 'gpt-oss-120b', 85_650),
  // 343 x 0.15 + 180 x 0.6 = 159.45
  golden('groq/pydantic.test_tool_use_failed_error_streaming_with_text.1.exchange.json', 'gpt-oss-120b', 159_450),
  // 40 x 0.02 + 2 x 0.05 = 0.9
  golden('huggingface/pydantic.test_cancel_recorded_provider_stream-huggingface.1.exchange.json', 'llama-3.1-8b', 900),
  // 16 x 3 + 216 x 7 = 1560
  golden('huggingface/pydantic.test_hf_model_instructions.0.exchange.json', 'deepseek-r1', 1_560_000),
  // 448 x 0.25 + 38 x 0.75 + 1 x 500 = 640.5
  golden(
    'huggingface/pydantic.test_image_as_binary_content_input.0.exchange.json',
    'qwen2.5-vl-72b, per image',
    640_500,
  ),
  // 4 x 3 + 100 x 7 = 712
  golden('huggingface/pydantic.test_max_completion_tokens.0.exchange.json', 'deepseek-r1', 712_000),
  // 4 x 3 + 258 x 7 = 1818
  golden('huggingface/pydantic.test_request_simple_usage.0.exchange.json', 'deepseek-r1', 1_818_000),
  // 720 x 0.11 + 65 x 0.34 = 101.3
  golden(
    'huggingface/pydantic.test_tool_choice_matrix-tools_plus_output-huggingface.0.exchange.json',
    'llama-4-scout',
    101_300,
  ),
  // 128 x 0.2 + 43 x 1 + 14 x 3.2 = 113.4
  golden('mistral/mistral-incremental-tool-call.chunks.txt', 'glm-5.2', 113_400),
  // 10 x 2 + 46 x 5 = 250
  golden('mistral/mistral-reasoning.chunks.txt', 'magistral-medium', 250_000),
  // 13 x 0.1 + 8 x 0.3 = 3.7
  golden('mistral/mistral-text.chunks.txt', 'mistral-small', 3_700),
  // 13 x 0.1 + 434 x 0.3 = 131.5
  golden('mistral/mistral-text.json', 'mistral-small', 131_500),
  // 11 x 0.25 + 80 x 0.25 = 22.75
  golden('mistral/openllmetry.test_mistralai_async_streaming_chat_legacy.0.exchange.json', 'mistral-tiny', 22_750),
  // 65 x 0.15 + 16 x 0.15 = 12.15
  golden('mistral/pydantic.test_image_as_binary_content_tool_response.0.exchange.json', 'pixtral-12b', 12_150),
  // 1540 x 0.15 + 54 x 0.15 = 239.1
  golden('mistral/pydantic.test_image_as_binary_content_tool_response.1.exchange.json', 'pixtral-12b', 239_100),
  // 4 x 2 + 36 x 6 = 224
  golden('mistral/pydantic.test_mistral_forwards_penalties.0.exchange.json', 'mistral-large', 224_000),
  // 28 x 0.1 + 35 x 0.3 = 13.3
  golden(
    'mistral/pydantic.test_reasoning_wire_contract-mistral-small-thinking-high.0.exchange.json',
    'mistral-small',
    13_300,
  ),
  // 69 x 0.2 + 1 x 2 + 12 x 6 = 87.8
  golden('mistral/pydantic.test_tool_choice_matrix-list_single-mistral.0.exchange.json', 'mistral-large', 87_800),
  // 9 x 0.2 + 1 x 2 + 224 x 6 = 1347.8
  golden('mistral/pydantic.test_tool_choice_matrix-none-mistral.0.exchange.json', 'mistral-large', 1_347_800),
  // 10 x 0.16 + 10 x 0.95 + 30 x 4 = 131.1
  golden('moonshotai/moonshotai-reasoning.json', 'kimi-k2.6', 131_100),
  // 9 x 1.15 + 7 x 3.3 + 5 x 4.5 = 55.95
  golden('moonshotai/moonshotai-stream.chunks.txt', 'kimi-k3', 55_950),
  // 30 x 1.15 + 12 x 4.5 = 88.5
  golden('moonshotai/moonshotai-tool-call.json', 'kimi-k3', 88_500),
  // 134 x 0 + 122 x 0 = 0
  golden('ollama/pydantic.test_ollama_cloud_tool_output.0.exchange.json', 'free', 0),
  // 206 x 0 + 194 x 0 = 0
  golden('ollama/pydantic.test_ollama_cloud_tool_output.1.exchange.json', 'free', 0),
  // 136 x 0 + 15 x 0 = 0
  golden('ollama/pydantic.test_ollama_local_native_output_uses_json_schema.0.exchange.json', 'free', 0),
  // 306 x 0.075 + 1 x 0.3 + 253 x 0.5 = 149.75
  golden('openai-compatible/xai-tool-call.chunks.txt', 'grok-3-mini', 149_750),
  // 244 x 0.075 + 63 x 0.3 + 281 x 0.5 = 177.7
  golden('openai-compatible/xai-tool-call.json', 'grok-3-mini', 177_700),
  // 40 x 0.5 + 13 x 1.5 = 39.5
  golden('openai/openllmetry.test_chat_pydantic_based_tool_calls.0.exchange.json', 'gpt-3.5-turbo', 39_500),
  // 40 x 0.5 + 14 x 1.5 = 41
  golden('openai/openllmetry.test_chat_pydantic_based_tool_calls.1.exchange.json', 'gpt-3.5-turbo', 41_000),
  // 70 x 0.5 + 46 x 1.5 = 104
  golden('openai/openllmetry.test_open_ai_function_calls_tools_parallel.0.exchange.json', 'gpt-3.5-turbo', 104_000),
  // 12 x 30 + 5 x 60 = 660
  golden('openai/otel.test_async_chat_completion_streaming_unsampled.0.exchange.json', 'gpt-4', 660_000),
  // 12 x 0.15 + 12 x 0.6 = 9
  golden('openai/otel.test_chat_completion_extra_params.0.exchange.json', 'gpt-4o-mini', 9_000),
  // 12 x 0.15 + 24 x 0.6 = 16.2
  golden('openai/otel.test_chat_completion_multiple_choices.0.exchange.json', 'gpt-4o-mini', 16_200),
  // 75 x 0.15 + 51 x 0.6 = 41.85
  golden(
    'openai/otel.test_chat_completion_multiple_tools_streaming_with_content.0.exchange.json',
    'gpt-4o-mini',
    41_850,
  ),
  // 99 x 0.15 + 25 x 0.6 = 29.85
  golden('openai/otel.test_chat_completion_tool_calls_no_content.1.exchange.json', 'gpt-4o-mini', 29_850),
  // 13 x 1.25 + 11 x 10 = 126.25
  golden('openai/pydantic.test_openai_model_settings_temperature_ignored_on_gpt_5.0.exchange.json', 'gpt-5', 126_250),
  // 53 x 0.15 + 15 x 0.6 = 16.95
  golden('openai/pydantic.test_run_stream_sync_streams_real_model.0.exchange.json', 'gpt-4o-mini', 16_950),
  // 78 x 0.15 + 9 x 0.6 = 17.1
  golden('openai/pydantic.test_run_stream_sync_streams_real_model.1.exchange.json', 'gpt-4o-mini', 17_100),
  // 37 x 0.25 + 92 x 2 = 193.25
  golden(
    'openrouter/pydantic.test_eager_input_streaming_sent_to_openrouter-non-anthropic-enabled.0.exchange.json',
    'gpt-5-mini',
    193_250,
  ),
  // 260 x 3 + 10 x 15 = 930
  golden('openrouter/pydantic.test_openrouter_cache_instructions_e2e.0.exchange.json', 'claude-sonnet', 930_000),
  // 2161 x 0.083334 + 7 x 0.03 + 100 x 2.5 = 430.294774
  golden(
    'openrouter/pydantic.test_openrouter_cache_instructions_gemini_real_api.0.exchange.json',
    'gemini-2.5-flash',
    430_295,
  ),
  // 2161 x 0.03 + 6 x 0.3 + 99 x 2.5 = 314.13
  golden(
    'openrouter/pydantic.test_openrouter_cache_instructions_gemini_real_api.1.exchange.json',
    'gemini-2.5-flash',
    314_130,
  ),
  // 219 x 0.3 + 21 x 2.5 = 118.2
  golden(
    'openrouter/pydantic.test_openrouter_cache_instructions_gemini_skips_dynamic_e2e.0.exchange.json',
    'gemini-2.5-flash',
    118_200,
  ),
  // 168 x 0.3 + 11 x 2.5 = 77.9
  golden('openrouter/pydantic.test_openrouter_cache_point_gemini_e2e.0.exchange.json', 'gemini-2.5-flash', 77_900),
  // 484 x 3 + 9 x 15 = 1587
  golden('openrouter/pydantic.test_openrouter_cache_point_image_e2e.0.exchange.json', 'claude-sonnet', 1_587_000),
  // 73 x 0.25 + 162 x 2 = 342.25
  golden(
    'openrouter/pydantic.test_openrouter_cache_point_unsupported_provider_e2e.0.exchange.json',
    'gpt-5-mini',
    342_250,
  ),
  // 254 x 3 + 5 x 15 = 837
  golden('openrouter/pydantic.test_openrouter_cache_streaming_e2e.0.exchange.json', 'claude-sonnet', 837_000),
  // 566 x 3 + 27 x 15 = 2103
  golden('openrouter/pydantic.test_openrouter_cache_tool_definitions_e2e.0.exchange.json', 'claude-sonnet', 2_103_000),
  // 31 x 0.25 + 80 x 2 = 167.75
  golden('openrouter/pydantic.test_openrouter_file_annotation.0.exchange.json', 'gpt-5-mini', 167_750),
  // 326 x 0.3 + 91 x 2.5 = 325.3
  golden('openrouter/pydantic.test_openrouter_google_nested_schema.0.exchange.json', 'gemini-2.5-flash', 325_300),
  // 480 x 0.3 + 33 x 2.5 = 226.5
  golden('openrouter/pydantic.test_openrouter_google_nested_schema.1.exchange.json', 'gemini-2.5-flash', 226_500),
  // 43 x 3 + 402 x 15 = 6159
  golden('openrouter/pydantic.test_openrouter_map_messages_reasoning.0.exchange.json', 'claude-sonnet', 6_159_000),
  // 8 x 0.25 + 15 x 2 = 32
  golden('openrouter/pydantic.test_openrouter_preserve_reasoning_block.0.exchange.json', 'gpt-5-mini', 32_000),
  // 41 x 0.25 + 1457 x 2 = 2924.25
  golden('openrouter/pydantic.test_openrouter_preserve_reasoning_block.1.exchange.json', 'gpt-5-mini', 2_924_250),
  // 679 x 0.75 + 8 x 3 + 187 x 15 = 3338.25
  golden('openrouter/pydantic.test_openrouter_stream_with_native_options.0.exchange.json', 'grok-4', 3_338_250),
  // 9 x 2 + 104 x 8 = 850
  golden('openrouter/pydantic.test_openrouter_stream_with_reasoning.0.exchange.json', 'o3', 850_000),
  // 14 x 3 + 4 x 15 = 102
  golden(
    'openrouter/pydantic.test_openrouter_thinking_false_supports_thinking_model.0.exchange.json',
    'claude-sonnet',
    102_000,
  ),
  // 134 x 0.1 + 43 x 0.3 = 26.3
  golden('openrouter/pydantic.test_openrouter_tool_calling.0.exchange.json', 'mistral-small', 26_300),
  // 2315 x 0.2574 + 40 x 1.0287 + 1 x 7000 = 7637.029
  golden(
    'openrouter/pydantic.test_openrouter_web_search_annotations.0.exchange.json',
    'deepseek-chat, with search',
    7_637_029,
  ),
  // 2317 x 0.2574 + 53 x 1.0287 + 1 x 7000 = 7650.9169
  golden(
    'openrouter/pydantic.test_openrouter_web_search_annotations_stream.0.exchange.json',
    'deepseek-chat, with search',
    7_650_917,
  ),
  // 30 x 1.5 + 26 x 7.5 = 240
  golden(
    'openrouter/pydantic.test_openrouter_web_search_tool_full_params.0.exchange.json',
    'gemini-3.6-flash',
    240_000,
  ),
  // 8174 x 0.4 + 30 x 1.6 + 1 x 10000 = 13317.6
  golden(
    'openrouter/pydantic.test_openrouter_web_search_tool_usage_stream.0.exchange.json',
    'gpt-4.1-mini',
    13_317_600,
  ),
  // 682 x 0.75 + 5 x 3 + 240 x 15 = 4126.5
  golden('openrouter/pydantic.test_openrouter_with_native_options.0.exchange.json', 'grok-4', 4_126_500),
  // 31 x 0.1 + 21 x 0.4 = 11.5
  golden('openrouter/pydantic.test_openrouter_with_preset.0.exchange.json', 'gemini-2.5-flash-lite', 11_500),
  // 11 x 1 + 434 x 1 + 5000 = 5445
  golden('perplexity/perplexity-text.chunks.txt', 'sonar, per request', 5_445_000),
  // 11 x 1 + 392 x 1 + 5000 = 5403
  golden('perplexity/perplexity-text.json', 'sonar, per request', 5_403_000),
  // 18 x 0.6 + 35 x 0.6 = 31.8
  golden('together/openllmetry.test_together_chat_legacy.0.exchange.json', 'mixtral-8x7b', 31_800),
  // 290 x 0.075 + 1 x 0.3 + 222 x 0.5 = 133.05
  golden('xai/xai-tool-call.chunks.txt', 'grok-3-mini', 133_050),
  // 244 x 0.075 + 47 x 0.3 + 215 x 0.5 = 139.9
  golden('xai/xai-tool-call.json', 'grok-3-mini', 139_900),
  // 20 x 1.4 + 125 x 4.4 = 578
  golden('zai/pydantic.test_zai_glm_5_3_reasoning_effort.0.exchange.json', 'glm-5.3', 578_000),
  // 20 x 1.4 + 120 x 4.4 = 556
  golden('zai/pydantic.test_zai_glm_5_3_reasoning_effort.1.exchange.json', 'glm-5.3', 556_000),
  // 20 x 1 + 67 x 3.2 = 234.4
  golden('zai/pydantic.test_zai_reasoning_effort.0.exchange.json', 'glm-5.2', 234_400),
  // 13 x 0.6 + 247 x 2.2 = 551.2
  golden('zai/pydantic.test_zai_thinking_mode.0.exchange.json', 'glm-4.7', 551_200),
  // 4 x 0.05 + 431 x 0.3 + 73 x 0.9 + 1 x 120 = 315.2
  golden('zai/pydantic.test_zai_vision_thinking.0.exchange.json', 'glm-4.6v, per image', 315_200),
];
