"""A stand-in for the package that Colab loads into every session."""
