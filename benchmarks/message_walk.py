"""How long one call takes as the history grows: messages= against extra_body=, through the same OpenAI client."""
import time

from agent_steps.providers import connect


def best(call, times: int = 5) -> float:
    """The shortest of several runs, in milliseconds."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        durations.append(time.perf_counter() - start)
    return min(durations) * 1000


if __name__ == "__main__":
    model = connect("practice", script=["ok"])
    create = model.client.chat.completions.create
    print("messages   messages= ms   extra_body= ms   ratio")
    for length in (2, 20, 100, 300, 600):
        history = [{"role": role, "content": "a few words"} for role in ("user", "assistant")] * (length // 2)
        walked = best(lambda: create(model=model.name, messages=history))
        passed = best(lambda: create(model=model.name, messages=[], extra_body={"messages": history}))
        print(f"{length:8}   {walked:12.2f}   {passed:14.2f}   {walked / passed:5.1f}")
