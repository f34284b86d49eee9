"""The lessons, in reading order. A lesson's module may import the modules of earlier lessons only."""

LESSONS = (
    "plain_chat",
    "describe_a_tool",
    "write_the_tool",
    "parse_the_tool_call",
    "the_loop",
    "task_complete",
    "tool_definitions",
    "dispatch_table",
    "run_agent",
    "full_tools",
    "find_and_plot",
    "make_it_safer",
    "behind_a_wall",
    "run_as_experiment",
    "native_tools",
    "call_with_tools",
    "sessions",
    "usage_and_cost",
    "caching_and_thinking",
    "interrupt_and_resume",
)
