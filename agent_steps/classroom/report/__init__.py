"""The report of a research agent, for people: as Markdown (markdown.py) and as one HTML file (page.py).

No lesson is imported here.

Both are made from one dictionary, which holds texts of a model and of pages that nobody has checked:

    {"topic": "...", "requirements": "...", "title": "...",
     "draft": "## A heading\n\nHigh water comes every 12.42 hours [3].",     # Markdown; [3] cites the third fact
     "summary": "...",                                                       # Markdown too
     "facts": [{"fact": "...", "source_url": "...", "quote": "..."}, ...],
     "pages": [{"url": "...", "title": "...", "content": "..."}, ...],
     "decisions": [{"phase": "gather", "action": "search", "query": "..."}, ...],
     "noticed": ["...", ...], "spent_text": "12 requests, 18,204 tokens, as if $0.0312"}     # the last may be left out
"""
