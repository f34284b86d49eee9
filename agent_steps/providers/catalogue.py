"""The providers: names, addresses, keys and default models, in this one place.

These facts change without notice. Collected from the providers' public pages on the date below. A model name that has
been retired gives a clear error at the first call; pass ``model=`` to use another one.
"""
import re
from dataclasses import dataclass

COLLECTED_ON = "2026-11-29"


@dataclass(frozen=True)
class Provider:
    """One row of the table: where a provider answers, and in which format.

    name: what ``connect`` calls it.
    wire: the format it speaks, ``"openai"`` (chat completions) or ``"anthropic"`` (messages).
    base_url: its address, as its client wants it.
    model: the model used when none is named.
    key_variable: the environment variable that holds the key; None where no key is needed.
    key_page: where to get a key.
    max_tokens_name: what the format calls the limit on the length of a reply.
    """

    name: str
    wire: str
    base_url: str
    model: str | None
    key_variable: str | None = None
    key_page: str = ""
    max_tokens_name: str = "max_tokens"

    @property
    def costs(self) -> bool:
        """Whether a call is paid for: whatever needs a key is."""
        return self.key_variable is not None


PRACTICE = Provider("practice", "openai", "http://practice.invalid/v1", "practice")
COMPATIBLE = Provider("your server", "openai", "", None)   # any other server that speaks OpenAI's format

PROVIDERS = {
    provider.name: provider
    for provider in [
        PRACTICE,
        Provider("openai", "openai", "https://api.openai.com/v1", "gpt-5.4-mini",
                 "OPENAI_API_KEY", "https://platform.openai.com/api-keys", "max_completion_tokens"),
        Provider("anthropic", "anthropic", "https://api.anthropic.com", "claude-haiku-5-5",
                 "ANTHROPIC_API_KEY", "https://console.anthropic.com/settings/keys"),
        Provider("openrouter", "openai", "https://openrouter.ai/api/v1", "anthropic/claude-haiku-5.5",
                 "OPENROUTER_API_KEY", "https://openrouter.ai/settings/keys"),
        Provider("ollama", "openai", "http://localhost:11434/v1", "qwen3.5:9b"),
        Provider("groq", "openai", "https://api.groq.com/openai/v1", "openai/gpt-oss-20b",
                 "GROQ_API_KEY", "https://console.groq.com/keys"),
        Provider("together", "openai", "https://api.together.xyz/v1", "openai/gpt-oss-20b",
                 "TOGETHER_API_KEY", "https://api.together.ai/settings/api-keys"),
        Provider("deepseek", "openai", "https://api.deepseek.com/v1", "deepseek-chat",
                 "DEEPSEEK_API_KEY", "https://platform.deepseek.com/api_keys"),
        Provider("xai", "openai", "https://api.x.ai/v1", "grok-4-fast-non-reasoning",
                 "XAI_API_KEY", "https://console.x.ai"),
        Provider("alibaba", "openai", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen-plus",
                 "DASHSCOPE_API_KEY", "https://modelstudio.console.alibabacloud.com"),
        Provider("zhipu", "openai", "https://open.bigmodel.cn/api/paas/v4", "glm-4.6",
                 "ZHIPU_API_KEY", "https://open.bigmodel.cn/usercenter/apikeys"),
        Provider("moonshot", "openai", "https://api.moonshot.ai/v1", "kimi-k2-turbo-preview",
                 "MOONSHOT_API_KEY", "https://platform.moonshot.ai/console/api-keys"),
        Provider("xiaomi", "openai", "https://api.xiaomimimo.com/v1", "mimo-v2-flash",
                 "XIAOMI_API_KEY", "https://platform.xiaomimimo.com"),
    ]
}

# How a model's name tells its provider. A slash comes first: only OpenRouter's names are "maker/model".
MODEL_NAMES = [
    (re.compile(r"^practice$"), "practice"),
    (re.compile(r"^[\w.-]+/[\w.:-]+$"), "openrouter"),
    (re.compile(r"^claude-"), "anthropic"),
    (re.compile(r"^(gpt-\d|chatgpt-|o\d(-|$))"), "openai"),
    (re.compile(r"^deepseek-(chat|reasoner)"), "deepseek"),
    (re.compile(r"^grok-"), "xai"),
    (re.compile(r"^qwen[\w.-]*$"), "alibaba"),
    (re.compile(r"^glm-[\w.-]*$"), "zhipu"),
    (re.compile(r"^(kimi|moonshot)-[\w.-]*$"), "moonshot"),
    (re.compile(r"^mimo-[\w.-]*$"), "xiaomi"),
]
