import CLinux
internal import COpenSSL
import Glibc

/// The preparations of a program before anything else.
package enum ProcessStart {
    /// Prepares the standard streams, and turns a lack of memory, or a file beyond its size limit, into an error
    /// instead of a signal.
    ///
    /// If a program starts with a standard stream closed, the next file that it opens gets the stream's number, and the
    /// program would print into that file. This function fills a closed stream with `/dev/null`, opened for the
    /// opposite direction, so that using it is still an error.
    ///
    /// libcrypto is told to free nothing at the end. Otherwise it would free the data of a thread while that thread,
    /// which ends at the same moment, frees it too.
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

    /// Ends the process as programs end whose reader has seen enough, such as `head`: silently, by SIGPIPE. This also
    /// works if that signal is ignored to make broken connections errors.
    package static func endWithoutReader() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        // The parent process may have blocked the signal.
        _exit(ExitStatus.io.rawValue)
    }

    /// Waits until a descriptor can be used. Another program may have made it non-blocking; call this after a call that
    /// would block. The corresponding C function is `poll`.
    package static func waitUntilReady(_ descriptor: Int32, toWrite: Bool) {
        var request = pollfd(fd: descriptor, events: Int16(toWrite ? POLLOUT : POLLIN), revents: 0)
        while poll(&request, 1, -1) < 0, errno == EINTR {}
    }
}
