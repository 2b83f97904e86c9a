/** The codes that mean a refusal of content with every status, in lower case. */
const codes: readonly { readonly code: RegExp; readonly of: string }[] = [
  { code: /^content_?(?:filter|policy|moderation)\w*$/, of: 'OpenAI, Azure, Moonshot' },
  { code: /^responsible_?ai\w*$/, of: 'Azure' },
  { code: /^moderation_\w+$/, of: 'OpenAI' },
  { code: /^data_?inspection\w*$/, of: 'Alibaba' },
  { code: /^prohibited_?content$/, of: 'Google' },
  { code: /^invalid_prompt$/, of: 'OpenAI, models that reason' },
  { code: /^(?:1026|1027)$/, of: 'MiniMax: what goes in, or comes out, is sensitive' },
  { code: /^1301$/, of: 'Z.AI' },
];

/** The words with which providers refuse the content of a request or of their response to it, in lower case. */
const words: readonly { readonly said: RegExp; readonly of: string }[] = [
  { said: /content[_ -]?(?:policy|filter|moderation|management|safety)/, of: 'OpenAI, Azure' },
  { said: /content (?:exists risk|violates)/, of: 'DeepSeek, Mistral' },
  { said: /responsible_?ai|responsible ai/, of: 'Azure, Google, Bedrock' },
  { said: /usage (?:guidelines|polic)|terms of use/, of: 'xAI, Anthropic, Google, Cohere' },
  { said: /safety[_ ](?:check|system|filter|polic|guideline)/, of: 'OpenAI, Groq' },
  { said: /moderation|(?:was|were|been|input) flagged/, of: 'OpenAI, OpenRouter' },
  { said: /data_?inspection|inappropriate content/, of: 'Alibaba' },
  { said: /sensitive (?:content|information|words?)|(?:new|input|output)_sensitive/, of: 'Z.AI, MiniMax' },
  { said: /prohibited_?content|violat\w+ .{0,80}polic/, of: 'Google' },
  { said: /blocked (?:input|output)|(?:input|output) blocked/, of: 'Cohere' },
  { said: /censor|invalid_prompt/, of: 'Venice, OpenAI' },
  { said: /敏感内容|不安全或敏感|违规内容|内容安全/, of: 'Z.AI, Baidu, Moonshot' },
];

/** The words of a status of 403 about an operator whose account the provider has closed. */
const closedAccount = /account|suspended|deactivated|terminated|banned|billing/;

/** The most characters of an error's words that are read, in UTF-16 units. */
const longest = 4_000;

/** Tells whether a provider refuses the content: that is the caller's fault, for every key. */
export function saysContentIsRefused(status: number, code: string | undefined, message: string): boolean {
  const kind = code?.toLowerCase() ?? '';
  if (codes.some((one) => one.code.test(kind))) return true;
  if (status !== 400 && status !== 403 && status !== 422 && status !== 451) return false;
  const said = `${kind} ${message}`.slice(0, longest).toLowerCase();
  return words.some((one) => one.said.test(said)) && !(status === 403 && closedAccount.test(said));
}
