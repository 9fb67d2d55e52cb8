import ArgumentParser
import ByteSources
import Glibc
import Measurement
import Support
import SystemPackage

/// A job for an engine.
struct EngineJob {
    /// The job's folder, as an absolute path, because other machines start in other folders.
    let folder: String
    let shardCount: Int
    /// The file of `parallel`'s hosts; `nil` for this machine.
    let hosts: String?

    /// The log of `parallel`. Each job has its own file.
    let log: String
    /// The start of the manifest's digest, which identifies the job.
    let digest: String

    private let manifest: String
    private let program: String
    private let command: String

    init(_ file: ManifestFile, hosts: String?, program: String) {
        folder = file.path.removingLastComponent().fromRoot.string
        manifest = file.path.fromRoot.string
        digest = String(file.digest.prefix(8))
        shardCount = file.manifest.shardCount
        log = "\(folder)/parallel-\(digest).log"
        command = file.manifest.work.command
        self.hosts = hosts
        self.program = program
    }

    /// The command that runs a shard, with an expression for its number.
    func shard(_ number: String) -> String {
        ShellText.joined([program, command, "--manifest", manifest, "--shard"]) + " " + number
    }

    /// The command that merges the shards.
    var merge: String { ShellText.joined([program, "merge", folder, "--output", folder + "/merged"]) }
}

/// A scheduler that runs shards. This program only splits and merges.
enum Engine: String, CaseIterable, ExpressibleByArgument {
    case slurm
    case parallel
    case kubernetes
    case local

    /// The program that runs the script.
    var program: String {
        switch self {
        case .slurm: "sbatch"
        case .parallel: "parallel"
        case .kubernetes: "kubectl"
        case .local: "sh"
        }
    }

    /// True if a shell finds the program. The corresponding C function is `access`.
    private var isInstalled: Bool {
        (ThisHost.variable("PATH") ?? "").split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// The characters that cannot be quoted in a path for this engine.
    private var unusual: Set<UnicodeScalar> {
        switch self {
        case .slurm: ["\\"]
        case .parallel: ["{", "}"]
        case .kubernetes: [":"]
        case .local: []
        }
    }

    /// Checks that the job can run, before it is written.
    func check(folder: String, hosts: String?) throws {
        let unusual = folder.unicodeScalars.first { PlainText.isControl($0) || self.unusual.contains($0) }
        if let unusual {
            throw CommandFailure(
                .usage,
                PlainText.line(
                    "--engine \(rawValue) --output \(folder): the character U+\(String(unusual.value, radix: 16)): "
                        + "expected a path without control characters"
                        + self.unusual.map { " or \($0)" }.sorted().joined()))
        }
        try requireValid(
            self != .kubernetes || FilePath(folder).removingLastComponent().string != "/",
            "--engine kubernetes --output \(folder): expected a folder in the one where the volume is mounted")
        guard let hosts else { return }
        let text = try attemptInput { try TextFile.read(hosts) }
        let isEmpty = text.split(separator: "\n").allSatisfy { $0.drop { $0 == " " }.isEmpty || $0.hasPrefix("#") }
        try require(!isEmpty, .badData, "--hosts \(hosts): it names no host: expected one a line")
    }

    /// Prints the script, or runs it.
    func run(_ job: EngineJob, submits: Bool) throws {
        let (launch, merge) = script(job)
        guard submits else { return print(launch + " &&\n" + merge) }
        try require(
            isInstalled, .missingInput,
            "--engine \(rawValue) --submit: no \(program) in PATH: expected it on this machine; without --submit, the "
                + "script is printed, to run it elsewhere")
        fflush(nil)
        // The shell replaces this process, so that its output and its exit code are this command's. The corresponding C
        // function is `execv`.
        let words: [String] = ["sh", "-c", "\(launch) || exit \(failureStatus)\n\(merge)"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) } + [nil]
        execv("/bin/sh", &arguments)
        throw CommandFailure(.io, "run /bin/sh: \(String(cString: strerror(errno))): expected a shell")
    }

    /// The exit code for shards that could not be submitted or have failed, because engines have exit codes of their
    /// own.
    private var failureStatus: String {
        switch self {
        case .slurm, .kubernetes: "\(ExitStatus.io.rawValue)"
        case .parallel: "\(ExitStatus.noAnswer.rawValue)"
        case .local: ""
        }
    }

    /// The script for a POSIX shell: the command that runs or submits the shards, and the one that merges them.
    private func script(_ job: EngineJob) -> (launch: String, merge: String) {
        let last = job.shardCount - 1
        switch self {
        case .slurm:
            // A requeued shard starts again, on any node, with another file.
            let wrap = ShellText.quoted("exec " + job.shard("\"$SLURM_ARRAY_TASK_ID\""))
            // sbatch(1), "filename pattern".
            let folder = job.folder.replacing("%", with: "%%")
            // With several clusters, sbatch prints "17;name".
            return (
                """
                job=$(sbatch --parsable --job-name=chunkwise --array=0-\(last) --exclusive --requeue \
                --open-mode=append \\
                  --output=\(ShellText.quoted(folder + "/slurm-%A_%a.log")) --wrap=\(wrap))
                """,
                """
                sbatch --parsable --job-name=chunkwise-merge --dependency="afterok:${job%%;*}" \
                --kill-on-invalid-dep=yes \\
                  $(case $job in *\\;*) echo "--clusters=${job#*;}";; esac) \\
                  --output=\(ShellText.quoted(folder + "/merge.log")) --wrap=\(ShellText.quoted("exec " + job.merge))
                """
            )
        case .parallel:
            // On the other host, a shell runs the command too.
            let hosts = job.hosts.map { "--sshloginfile \(ShellText.quoted($0))" } ?? "--sshlogin :"
            return (
                """
                parallel -j1 \(hosts) --joblog \(ShellText.quoted(job.log)) --resume-failed \\
                  \(ShellText.quoted(job.shard("{}"))) ::: $(seq 0 \(last))
                """, job.merge
            )
        case .kubernetes: return (kubernetes(job), "echo \(ShellText.quoted("When the job is complete: " + job.merge))")
        case .local:
            // A subshell, which ends with the first shard that fails.
            return (
                """
                (for shard in $(seq 0 \(last)); do
                  \(job.shard("\"$shard\"")) || exit
                done)
                """, job.merge
            )
        }
    }

    /// An Indexed Job with one pod per node. Kubernetes replaces a lost pod by one with the same index. An exit code
    /// that another attempt cannot change ends the job. The volume is mounted at the same path as here, above the job's
    /// folder.
    private func kubernetes(_ job: EngineJob) -> String {
        // YAML 1.2, section 7.3.2.
        func quoted(_ text: String) -> String {
            "'" + text.unicodeScalars.map { $0 == "'" ? "''" : String($0) }.joined() + "'"
        }
        // "$$" is a dollar sign. Source: Kubernetes' documentation, Container, "command".
        let command = quoted("exec " + job.shard("$JOB_COMPLETION_INDEX")).replacing("$", with: "$$")
        let statuses = [ExitStatus.usage, .badData, .missingInput].map { "\($0.rawValue)" }.joined(separator: ", ")
        return """
            (kubectl create -f - <<'EOF'
            apiVersion: batch/v1
            kind: Job
            metadata:
              generateName: chunkwise-\(job.digest)-
            spec:
              completionMode: Indexed
              completions: \(job.shardCount)
              parallelism: \(job.shardCount)
              backoffLimit: \(2 * job.shardCount)
              podFailurePolicy:
                rules:
                  - action: FailJob
                    onExitCodes: {containerName: shard, operator: In, values: [\(statuses)]}
              template:
                metadata:
                  labels: {app: chunkwise}
                spec:
                  restartPolicy: Never
                  terminationGracePeriodSeconds: 60
                  affinity:
                    podAntiAffinity:
                      requiredDuringSchedulingIgnoredDuringExecution:
                        - labelSelector: {matchLabels: {app: chunkwise}}
                          topologyKey: kubernetes.io/hostname
                  containers:
                    - name: shard
                      image: chunkwise:\(Program.version)
                      command: [sh, -c, \(command)]
                      env:
                        - name: NODE_NAME
                          valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
                      volumeMounts:
                        - {name: run, mountPath: \(quoted(FilePath(job.folder).removingLastComponent().string))}
                  volumes:
                    - name: run
                      persistentVolumeClaim: {claimName: chunkwise-run}
            EOF
            )
            """
    }
}
