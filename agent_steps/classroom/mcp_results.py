"""What an MCP server answered, as text for the model."""
import json


def as_result(answer):
    """Turn a CallToolResult into text. What is no text is named, and an error begins with "Error: "."""
    parts = [part_text(part) for part in answer.content]
    text = "\n".join(part for part in parts if part.strip())
    if not text and answer.structured_content is not None:
        text = json.dumps(answer.structured_content, ensure_ascii=False)
    if answer.is_error and not text.startswith("Error: "):
        return f"Error: {text or 'the tool failed and said nothing.'}"
    return text


def part_text(part):
    """Return a part of a result as text."""
    if part.type == "text":
        return part.text
    if part.type == "resource_link":
        return f"[a resource, not fetched: {part.name}, {part.uri}]"
    if part.type == "resource":
        inside = part.resource
        return f"[{inside.uri}]\n{inside.text}" if hasattr(inside, "text") else f"[{inside.uri}: {len(inside.blob) * 3 // 4:,} bytes, not shown]"
    return f"[{part.type}, {part.mime_type}: {len(part.data) * 3 // 4:,} bytes, not shown]"
