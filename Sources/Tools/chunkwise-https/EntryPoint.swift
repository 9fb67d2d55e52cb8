import Commands
import Glibc

/// Where the process starts: the commands of `chunkwise`, with something that reads objects on servers.
@main
enum EntryPoint {
    static func main() {
        // A server that goes away is an error of a connection.
        signal(SIGPIPE, SIG_IGN)
        CommandLineProgram.run(network: HTTPNetwork())
    }
}
