import Commands

/// Where the process starts.
@main
enum EntryPoint {
    static func main() {
        CommandLineProgram.run()
    }
}
