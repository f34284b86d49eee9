"""What decides the next reply: a plain answer, or the plan that the task calls for."""
import re

from agent_steps.practice.plans import PLANS
from agent_steps.practice.replies import say
from agent_steps.practice.request import Reply, Request
from agent_steps.practice.research_plan import research
from agent_steps.practice.situation import Situation, lines, mentions, read_situation


def decide(request: Request) -> Reply:
    """Return the reply to a request. The same request always gets the same reply."""
    situation = read_situation(request)
    if situation.native and not request.may_call:
        return _without_tools(situation)
    reply = research(situation) or _answer(situation) or _plan(situation) or say("unknown")
    if situation.habit("capitals") and not reply.calls and "<tool_call>" not in reply.text:
        reply = Reply(reply.text.upper(), stop_reason=reply.stop_reason)
    return reply


def _without_tools(situation: Situation) -> Reply:
    """The best answer where no tool may be called any more: what was found last."""
    results = [step.result for step in situation.steps if not step.failed]
    return say("so_far", calls=len(situation.steps), result=results[-1].partition("\n")[0]) if results else say("nothing_yet")


def _answer(situation: Situation) -> Reply | None:
    question = re.sub(r"[\w./-]+\.\w+", "", situation.task.lower())   # hello.txt is no greeting
    for answer in lines()["answer"]:
        if all(word in question for word in answer["asked"]):
            return Reply(answer["say"].replace("{name}", name_in(situation.task) or "you"))
    return None


def _plan(situation: Situation) -> Reply | None:
    for plan in lines()["plan"]:
        if mentions(situation.task, plan["asked"]) and (reply := PLANS[plan["name"]](situation)):
            return reply
    return None


def name_in(text: str) -> str | None:
    """The name in "My name is Ada"."""
    found = re.search(r"[Mm]y name is (\w+)", text)
    return found[1] if found else None
