"""Where a research agent finds pages: the course's own library, or the web."""
