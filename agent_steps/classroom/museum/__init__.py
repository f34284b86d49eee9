"""The museum: programs that an agent might be led to run, and a judge who looks from outside whether they did harm.

programs.toml holds the exhibits. judge() runs one of them through a layer, which is any function ``run(code, folder) -> str``.
results.csv holds what was measured (benchmarks/museum.py writes it), and museum_table() shows it.
"""
