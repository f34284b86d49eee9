"""The schema of a tool's arguments: written by pydantic from a function's types, or given; and arguments checked against it."""
import inspect


def whole_schema(parameters: dict | None) -> dict:
    """Return a schema that is whole, with properties if there are none; make one of properties alone, all of them required.

    Raises TypeError for what is neither.
    """
    if not isinstance(parameters, dict | None):
        raise TypeError(f"parameters is a schema, a dict, not {parameters!r}.")
    whole = not parameters or "properties" in parameters or any(not isinstance(value, dict) for value in parameters.values())
    if whole:   # of properties alone, every value is a dict
        return {"type": "object", "properties": {}, **(parameters or {})}
    return {"type": "object", "properties": parameters, "required": list(parameters)}


def name_of(function) -> str:
    """What errors call a function: a partial and a callable object have no name."""
    return getattr(function, "__name__", "the tool")


def doc_of(function) -> str:
    """The docstring of a function, or of the function in a partial; an empty text if there is none."""
    return inspect.getdoc(getattr(function, "func", function)) or ""


def arguments_model(function):
    """Return a pydantic model of a function's arguments: it writes their schema, and checks them.

    Its fields have names of their own, and the parameters' names as aliases: a parameter may have any name.
    """
    from pydantic import ConfigDict, Field, create_model

    lines = doc_of(function).splitlines()[1:]
    texts = {name.strip(): text for name, _, text in (line.partition(": ") for line in lines)}
    fields = {}
    for number, (name, parameter) in enumerate(inspect.signature(function, eval_str=True).parameters.items()):
        if parameter.annotation is parameter.empty:
            raise TypeError(f"{name_of(function)}: give the parameter {name!r} a type.")
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{name_of(function)}: {name!r} cannot be given by name. A tool has plain parameters, without * and /.")
        more = {} if parameter.default is parameter.empty else {"default": parameter.default}
        more |= {"description": texts[name]} if texts.get(name) else {}
        fields[f"field_{number}"] = (parameter.annotation, Field(alias=name, **more))
    return create_model("Arguments", __config__=ConfigDict(extra="forbid", allow_inf_nan=False), **fields)


def schema_of(model) -> dict:
    """Return the JSON schema of a pydantic model, without the titles, which say the names again."""
    schema = model.model_json_schema()
    _drop_titles(schema)
    return {"type": "object", "properties": {}, "required": [], **schema}


def _drop_titles(schema: dict) -> None:
    if isinstance(schema.get("title"), str):
        del schema["title"]
    for part in ("properties", "$defs"):
        for value in schema.get(part, {}).values():
            _drop_titles(value)


def check_values(model, arguments: dict) -> dict:
    """Return arguments as the types want them. Raises ValueError, which says what is wrong with each."""
    from pydantic import ValidationError

    names = {field: info.alias for field, info in model.model_fields.items()}
    try:
        checked = model.model_validate(arguments)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]
        raise ValueError(f"{'; '.join(found)}. The arguments are: {', '.join(names.values()) or 'none'}.") from None
    return {name: getattr(checked, field) for field, name in names.items() if field in checked.model_fields_set}


def check_names(schema: dict, arguments: dict) -> dict:
    """Return the arguments, if all that are required are there and no others. Raises ValueError otherwise."""
    known = schema["properties"]
    missing = [name for name in schema.get("required", []) if name not in arguments]
    open_to_others = schema.get("additionalProperties") or not known and schema.keys() - {"type", "properties", "required", "additionalProperties"}
    unknown = [] if open_to_others else [name for name in arguments if name not in known]
    if missing or unknown:
        problem = f"{missing[0]!r} is missing" if missing else f"there is no argument {ascii(unknown[0])}"
        raise ValueError(f"{problem}. The arguments are: {', '.join(known) or 'none'}.")
    return arguments
