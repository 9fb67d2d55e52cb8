import CommandOptions
import Glibc

/// The summary of a job on GitHub: a file that each step may add Markdown to.
enum GitHubSummary {
    /// Adds to the file that the environment names; nothing where it names none.
    ///
    /// - Source: GitHub's "Workflow commands", "Adding a job summary".
    static func add(_ markdown: String) throws {
        guard let path = getenv("GITHUB_STEP_SUMMARY").map({ String(cString: $0) }), !path.isEmpty else { return }
        guard let file = fopen(path, "a") else {
            throw CommandFailure(
                .io,
                "open \(path) of GITHUB_STEP_SUMMARY failed: \(String(cString: strerror(errno))): expected a file to add to"
            )
        }
        let isWritten = fputs(markdown + "\n", file) >= 0
        guard fclose(file) == 0, isWritten else {
            throw CommandFailure(.io, "write to \(path) of GITHUB_STEP_SUMMARY failed: expected it to take the summary")
        }
    }
}
