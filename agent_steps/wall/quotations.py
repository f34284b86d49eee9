"""Where a quotation ends in a model's reply: reasoning, a code fence or inline code. What stands in it is only shown."""
import re

LONGEST_CODE = 20_000   # characters of inline code; looking further would take too long where many are never closed


def end_of_quotation(reply: str, mark: re.Match) -> int:
    """Return the place where the quotation ends that begins at the mark (the groups are those of MARK in lesson 4).

    Reasoning and fences that are never closed go on to the end of the reply.
    """
    if mark["code"]:
        return end_of_code(reply, mark.end(), mark["code_run"])
    if mark["fence"]:
        return end_of_fence(reply, mark.end(), mark["fence_run"])
    closing = f"</{mark['tag']}>"
    end = reply.find(closing, mark.end())
    return end + len(closing) if end >= 0 else len(reply)


def end_of_code(reply: str, start: int, run: str) -> int:
    """Return the end of inline code. It ends on its own line, or the back-tick stands for itself; a call may have more lines."""
    limit = start + LONGEST_CODE
    if not reply[start:start + 20].lstrip().startswith("<tool_call>"):
        line_end = reply.find("\n", start, limit)
        limit = line_end if line_end >= 0 else limit
    end = reply.find(run, start, limit)
    return start if end < 0 else end + len(run)


def end_of_fence(reply: str, start: int, run: str) -> int:
    """Return the end of a code fence. A fence with a language inside it opens a further one; a bare one closes the innermost."""
    depth = 1
    for line in re.compile(rf"^[ \t>]*({run[0]}{{3,}})(.*)", re.M).finditer(reply, start):
        if len(line[1]) >= len(run):
            depth += 1 if line[2].strip() else -1
        if depth == 0:
            return line.end()
    return len(reply)
