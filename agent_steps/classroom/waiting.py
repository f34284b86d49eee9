"""Wait, in a loop that is no coroutine, for what comes from one."""
import asyncio
import concurrent.futures
import contextvars
import inspect
import threading


def wait_for(value):
    """Return a value; of an awaitable or a future what comes of it.

    Raises RuntimeError where waiting would never end, and where an awaitable was cancelled.
    """
    if isinstance(value, concurrent.futures.Future):
        return value.result()
    if not inspect.isawaitable(value):
        return value
    home = value.get_loop() if isinstance(value, asyncio.Future) and not value.done() else None
    if home is None:
        return _wait_in_a_thread(value)
    if home is _running_loop() or not home.is_running():
        raise RuntimeError("the answers come from an event loop that cannot go on while this run waits. "
                           "Run the agent in a thread: await asyncio.to_thread(call_with_tools, ...)")
    return asyncio.run_coroutine_threadsafe(_finish(value), home).result()


def _wait_in_a_thread(awaitable):
    """Run an awaitable in a thread of its own: in this one an event loop may be running already."""
    came, here = concurrent.futures.Future(), contextvars.copy_context()

    def run():
        try:
            came.set_result(here.run(asyncio.run, _finish(awaitable)))
        except BaseException as error:
            came.set_exception(error)

    threading.Thread(target=run, daemon=True).start()   # after Ctrl-C nobody waits for it any more
    return came.result()


async def _finish(awaitable):
    try:
        return await awaitable
    except asyncio.CancelledError:   # as it is, it would end the whole run
        raise RuntimeError("the questions were taken back before there was an answer") from None


def _running_loop():
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
