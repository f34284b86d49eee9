"""The practice model: it answers the lessons with no key and no network.

It stands where the paid service would stand, below the SDK: the real ``openai`` and ``anthropic`` clients build every
request and read every answer (``transport``). The two wire formats stand at the edge (``openai_wire``,
``anthropic_wire``); what decides the next reply (``mind``, ``plans``) knows neither. What it says is data that can be
read: ``lines.toml``. It keeps no memory of its own: a reply is a function of the request alone.
"""
