"""What stands between a model's words and the machine: how its code runs in a child process, which paths and files its
tools may touch, and which parts of a reply are only quoted and must not run.
"""
