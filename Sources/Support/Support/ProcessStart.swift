import CLinux
internal import COpenSSL
import Glibc

/// What a program does before anything else.
package enum ProcessStart {
    /// Makes sure of the standard streams, and that a lack of memory, or a file that grows beyond its limit, is an error
    /// and not a signal.
    ///
    /// A program that is started with a stream closed would give its number to the next file that it opens, and print
    /// into that. A closed stream is held by `/dev/null` opened the other way round: using it is still an error.
    ///
    /// libcrypto is told to free nothing at the end: it would free what belongs to a thread while that thread, which ends
    /// at the same moment, frees it too.
    ///
    /// - Source: POSIX.1-2017, "open" (the lowest descriptor) and `RLIMIT_FSIZE`; OPENSSL_init_crypto(3),
    ///   `OPENSSL_INIT_NO_ATEXIT`.
    package static func prepare() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            guard open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) == descriptor else {
                _exit(ExitStatus.io.rawValue)
            }
        }
        signal(SIGXFSZ, SIG_IGN)
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        chunkwise_exit_without_memory(ExitStatus.io.rawValue)
        chunkwise_prepare_output()
    }

    /// Ends the process as any program ends whose reader has seen enough, such as `head`: by SIGPIPE and without a word,
    /// also where that signal is ignored, so that a broken connection is an error and not the end.
    package static func endWithoutReader() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        // Blocked by whoever started this program.
        _exit(ExitStatus.io.rawValue)
    }

    /// Waits until a descriptor that another program made non-blocking can be used, after a call that would block.
    /// The corresponding C function is `poll`.
    package static func waitUntilReady(_ descriptor: Int32, toWrite: Bool) {
        var request = pollfd(fd: descriptor, events: Int16(toWrite ? POLLOUT : POLLIN), revents: 0)
        while poll(&request, 1, -1) < 0, errno == EINTR {}
    }
}
