import ArgumentParser
import ByteSources
import Glibc
import Measurement
import Support
import SystemPackage

/// A job as an engine runs it.
struct EngineJob {
    /// The job's folder and its manifest, from the root: other machines start elsewhere.
    let folder: String
    let shardCount: Int
    /// The file of `parallel`'s hosts; `nil` for this machine.
    let hosts: String?

    /// What `parallel` notes there is of one job: another one is another file.
    let log: String
    /// The start of the manifest's digest, which tells jobs apart.
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

    /// The command that runs a shard, with a number that a shell fills in.
    func shard(_ number: String) -> String {
        ShellText.joined([program, command, "--manifest", manifest, "--shard"]) + " " + number
    }

    /// The command that merges the shards.
    var merge: String { ShellText.joined([program, "merge", folder, "--output", folder + "/merged"]) }
}

/// What runs shards: this program splits and merges, and schedules nothing.
enum Engine: String, CaseIterable, ExpressibleByArgument {
    case slurm
    case parallel
    case kubernetes
    case local

    /// The program that takes the script.
    var program: String {
        switch self {
        case .slurm: "sbatch"
        case .parallel: "parallel"
        case .kubernetes: "kubectl"
        case .local: "sh"
        }
    }

    /// Whether a shell would find the program. The corresponding C function is `access`.
    private var isInstalled: Bool {
        (ThisHost.variable("PATH") ?? "").split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// Characters that something which reads a path there knows no way to quote.
    private var unusual: Set<UnicodeScalar> {
        switch self {
        case .slurm: ["\\"]
        case .parallel: ["{", "}"]
        case .kubernetes: [":"]
        case .local: []
        }
    }

    /// Refuses what cannot be run, before anything is written.
    func check(folder: String, hosts: String?) throws {
        let unusual = folder.unicodeScalars.first { PlainText.isControl($0) || self.unusual.contains($0) }
        if let unusual {
            throw CommandFailure(
                .usage,
                PlainText.line(
                    "--engine \(rawValue) --output \(folder): the character U+\(String(unusual.value, radix: 16)): expected a "
                        + "path without control characters"
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

    /// Prints what is to be run, or runs it.
    func run(_ job: EngineJob, submits: Bool) throws {
        let (launch, merge) = script(job)
        guard submits else { return print(launch + " &&\n" + merge) }
        try require(
            isInstalled, .missingInput,
            "--engine \(rawValue) --submit: no \(program) in PATH: expected it on this machine; without --submit, what is to "
                + "be run is printed, to be run where it is")
        fflush(nil)
        // What the shell says and ends with is this command's. The corresponding C function is `execv`.
        let words: [String] = ["sh", "-c", "\(launch) || exit \(failureStatus)\n\(merge)"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) } + [nil]
        execv("/bin/sh", &arguments)
        throw CommandFailure(.io, "run /bin/sh: \(String(cString: strerror(errno))): expected a shell")
    }

    /// What this command ends with if shards could not be submitted, or were and have failed: the engines count their own way.
    private var failureStatus: String {
        switch self {
        case .slurm, .kubernetes: "\(ExitStatus.io.rawValue)"
        case .parallel: "\(ExitStatus.noAnswer.rawValue)"
        case .local: ""
        }
    }

    /// What is to be run, for a POSIX shell: what runs or submits the shards, and what comes after it.
    private func script(_ job: EngineJob) -> (launch: String, merge: String) {
        let last = job.shardCount - 1
        switch self {
        case .slurm:
            // A shard that is requeued starts anew, on whichever node, into a file of its own.
            let wrap = ShellText.quoted("exec " + job.shard("\"$SLURM_ARRAY_TASK_ID\""))
            // sbatch(1), "filename pattern".
            let folder = job.folder.replacing("%", with: "%%")
            // With several clusters, it says "17;name".
            return (
                """
                job=$(sbatch --parsable --job-name=chunkwise --array=0-\(last) --exclusive --requeue --open-mode=append \\
                  --output=\(ShellText.quoted(folder + "/slurm-%A_%a.log")) --wrap=\(wrap))
                """,
                """
                sbatch --parsable --job-name=chunkwise-merge --dependency="afterok:${job%%;*}" --kill-on-invalid-dep=yes \\
                  $(case $job in *\\;*) echo "--clusters=${job#*;}";; esac) \\
                  --output=\(ShellText.quoted(folder + "/merge.log")) --wrap=\(ShellText.quoted("exec " + job.merge))
                """
            )
        case .parallel:
            // The command is a shell's, on the other side as well.
            let hosts = job.hosts.map { "--sshloginfile \(ShellText.quoted($0))" } ?? "--sshlogin :"
            return (
                """
                parallel -j1 \(hosts) --joblog \(ShellText.quoted(job.log)) --resume-failed \\
                  \(ShellText.quoted(job.shard("{}"))) ::: $(seq 0 \(last))
                """, job.merge
            )
        case .kubernetes: return (kubernetes(job), "echo \(ShellText.quoted("When the job is complete: " + job.merge))")
        case .local:
            // A shell of its own, which ends where a shard does not.
            return (
                """
                (for shard in $(seq 0 \(last)); do
                  \(job.shard("\"$shard\"")) || exit
                done)
                """, job.merge
            )
        }
    }

    /// An Indexed Job, one pod a node: a pod that is lost is replaced by one of the same index. What another attempt cannot
    /// mend ends the job. The volume is mounted where it is here: above the job's folder.
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
