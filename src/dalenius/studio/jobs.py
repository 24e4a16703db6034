"""One job at a time, in a process of its own: cancelling is a kill, and a crash is an error state, not the end."""

import contextlib
import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from dalenius.errors import DaleniusError

__all__ = ["Jobs", "Send"]

Send = Callable[[dict[str, Any]], None]
Work = Callable[..., None]

PATIENCE = 2.0  # seconds until a process that does not end is killed
FINISHED = {
    "finished": True
}  # the last word of work that was done; a busy machine may take its time to end the process


def _run(work: Work, pipe: Connection, arguments: tuple[Any, ...]) -> None:
    """The other process: every message goes through the pipe, and so does the error that ends it."""
    with contextlib.suppress(BrokenPipeError):  # nobody listens any more: the studio has ended
        try:
            work(pipe.send, *arguments)
            pipe.send(FINISHED)
        except DaleniusError as e:
            pipe.send({"failed": str(e)})
        except BrokenPipeError:
            raise
        except Exception as e:  # a fault of ours: the studio says so and goes on
            pipe.send({"failed": f"Dalenius failed, not your table ({type(e).__name__}: {e})."})


class Jobs:
    """Starts and ends the one job of a studio."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None

    @property
    def busy(self) -> bool:
        """Whether a job runs."""
        return self._process is not None and self._process.is_alive()

    def start(self, work: Work, arguments: tuple[Any, ...], on_message: Send) -> None:
        """Run `work(send, *arguments)` in a new process; another job is ended first.

        Parameters
        ----------
        work : callable
            A function of a module.
        arguments : tuple
            What it is given after `send`; plain values.
        on_message : callable
            Called in a thread of its own with everything that it sends, and at the end with {"ended": whether the work
            was done}.
        """
        self.cancel()
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_run, args=(work, sender, arguments), daemon=True)
        process.start()
        sender.close()
        self._process = process
        threading.Thread(target=self._listen, args=(process, receiver, on_message), daemon=True).start()

    def _listen(self, process: Any, receiver: Connection, on_message: Send) -> None:
        finished = False
        while True:
            try:
                message = receiver.recv()
            except (EOFError, OSError):
                break
            if message == FINISHED:
                finished = True
            elif self._process is process:
                on_message(message)
        process.join(PATIENCE)
        if self._process is process:  # else it was cancelled, and nobody listens any more
            self._process = None
            on_message({"ended": finished})

    def cancel(self) -> bool:
        """End the job; whether there was one."""
        process, self._process = self._process, None
        if process is None or not process.is_alive():
            return False
        process.terminate()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join(PATIENCE)
        return True
