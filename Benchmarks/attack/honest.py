"""Clients that do nothing wrong, each in a process of its own, so that no attacker beside delays them in Python."""
import multiprocessing
import random
import socket
import struct
import time

import servers


class Honest:
    """A client at an address of its own that asks and compares, until it is told to stop."""

    def __init__(self, server, source="127.0.0.2", churns=False, pause=0.02):
        self.server, self.source, self.churns, self.pause = server, source, churns, pause
        self.stopping = multiprocessing.Event()
        self.output, output = multiprocessing.Pipe(False)
        self.process = multiprocessing.Process(target=self.run, args=(output,), daemon=True)
        self.process.start()

    def stop(self):
        """Latencies in seconds, what was wrong, what failed and was tried again, and requests' numbers."""
        self.stopping.set()
        result = self.output.recv()
        self.process.join()
        return result

    def run(self, output):
        generator, connection, count = random.Random(self.source), None, 0
        latencies, wrong, failures, numbers = [], [], [], []
        while not self.stopping.is_set():
            start = time.perf_counter()
            # Until it is served: what it waits includes connections that were refused.
            while not self.stopping.is_set():
                try:
                    if connection is None:
                        connection = self.server.connect(self.source)
                        connection.settimeout(60)
                    numbers.append(self.server.read(connection, generator))
                    latencies.append(time.perf_counter() - start)
                    break
                except servers.Wrong as error:
                    wrong.append(str(error))
                    connection = self.close(connection)
                    break
                except OSError as error:
                    failures.append(repr(error))
                    connection = self.close(connection)
                    time.sleep(0.01)
            else:
                # Told to stop while it waits, which counts as well.
                latencies.append(time.perf_counter() - start)
            count += 1
            if count % (3 if self.churns else 20) == 0:
                connection = self.leave(connection, generator, wrong)
            time.sleep(self.pause)
        self.close(connection)
        output.send((latencies, wrong, failures, numbers))

    def leave(self, connection, generator, wrong):
        """Ends a connection; one that churns does so within an answer, half the time by a reset."""
        try:
            if self.churns and connection is not None:
                self.server.begin(connection, generator)
                if generator.random() < 0.5:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except servers.Wrong as error:
            wrong.append(str(error))
        except OSError:
            pass
        return self.close(connection)

    @staticmethod
    def close(connection):
        if connection is not None:
            connection.close()


def percentile(latencies, share):
    """A latency that occurred, in milliseconds."""
    values = sorted(latencies)
    return values[min(len(values) - 1, int(len(values) * share))] * 1000 if values else float("inf")
