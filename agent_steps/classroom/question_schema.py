"""How the tool ask_user is described to the model."""

DESCRIPTION = "Ask the person 1 to 4 questions when you cannot decide for them. Each has 2 to 4 options; they may also answer in their own words."
TEXT = {"type": "string"}
OPTION = {"type": "object", "properties": {"label": TEXT, "description": TEXT}, "required": ["label", "description"]}
QUESTION = {"type": "object", "required": ["question", "header", "options"], "properties": {
    "question": TEXT, "header": TEXT | {"description": "At most 12 characters."},
    "options": {"type": "array", "items": OPTION}, "multiSelect": {"type": "boolean"}}}
SCHEMA = {"type": "object", "required": ["questions"], "properties": {
    "questions": {"type": "array", "items": QUESTION}}}
