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

    private let manifest: String
    private let program: String
    private let command: String

    init(_ file: ManifestFile, hosts: String?, program: String) {
        folder = file.path.removingLastComponent().fromRoot.string
        manifest = file.path.fromRoot.string
        shardCount = file.manifest.shardCount
        log = "\(folder)/parallel-\(file.digest.prefix(8)).log"
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

    /// Prints what is to be run, or runs it.
    func run(_ job: EngineJob, submits: Bool) throws {
        // Some of what reads a path here knows no way to quote these.
        let unusual = job.folder.unicodeScalars.first {
            PlainText.isControl($0) || self == .parallel && ["{", "}"].contains($0)
        }
        if let unusual {
            throw CommandFailure(
                .usage,
                "--engine \(rawValue) --output \(job.folder): the character U+\(String(unusual.value, radix: 16)): expected a "
                    + "path without line breaks, control characters and, for parallel, braces")
        }
        let script = script(job)
        guard submits else { return print(script) }
        try require(
            isInstalled, .missingInput,
            "--engine \(rawValue) --submit: no \(program) in PATH: expected it on this machine; without --submit, what is to "
                + "be run is printed, to be run where it is")
        fflush(nil)
        // What the shell says and ends with is this command's. The corresponding C function is `execv`.
        let words: [String] = ["sh", "-c", script]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) } + [nil]
        execv("/bin/sh", &arguments)
        throw CommandFailure(.io, "run /bin/sh: \(String(cString: strerror(errno))): expected a shell")
    }

    /// What is to be run, for a POSIX shell.
    func script(_ job: EngineJob) -> String {
        let last = job.shardCount - 1
        switch self {
        case .slurm:
            // A shard that is requeued starts anew, on whichever node, into a file of its own.
            let wrap = ShellText.quoted("exec " + job.shard("\"$SLURM_ARRAY_TASK_ID\""))
            // sbatch(1), "filename pattern".
            let folder = job.folder.replacing("%", with: "%%")
            return """
                job=$(sbatch --parsable --job-name=chunkwise --array=0-\(last) --exclusive --requeue --open-mode=append \\
                  --output=\(ShellText.quoted(folder + "/slurm-%A_%a.log")) --wrap=\(wrap)) &&
                sbatch --parsable --job-name=chunkwise-merge --dependency="afterok:$job" --kill-on-invalid-dep=yes \\
                  --output=\(ShellText.quoted(folder + "/merge.log")) --wrap=\(ShellText.quoted("exec " + job.merge))
                """
        case .parallel:
            // The command is a shell's, on the other side as well.
            let hosts = job.hosts.map { "--sshloginfile \(ShellText.quoted($0))" } ?? "--sshlogin :"
            return """
                parallel -j1 \(hosts) --joblog \(ShellText.quoted(job.log)) --resume-failed \\
                  \(ShellText.quoted(job.shard("{}"))) ::: $(seq 0 \(last)) &&
                \(job.merge)
                """
        case .kubernetes: return kubernetes(job)
        case .local:
            return """
                for shard in $(seq 0 \(last)); do
                  \(job.shard("\"$shard\"")) || exit
                done
                \(job.merge)
                """
        }
    }

    /// An Indexed Job, one pod a node: a pod that fails is replaced by one of the same index.
    private func kubernetes(_ job: EngineJob) -> String {
        // YAML 1.2, section 7.3.2.
        func quoted(_ text: String) -> String {
            "'" + text.unicodeScalars.map { $0 == "'" ? "''" : String($0) }.joined() + "'"
        }
        return """
            kubectl apply -f - <<'EOF'
            apiVersion: batch/v1
            kind: Job
            metadata:
              name: chunkwise
            spec:
              completionMode: Indexed
              completions: \(job.shardCount)
              parallelism: \(job.shardCount)
              backoffLimit: \(2 * job.shardCount)
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
                      command: [sh, -c, \(quoted("exec " + job.shard("$JOB_COMPLETION_INDEX")))]
                      env:
                        - name: NODE_NAME
                          valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
                      volumeMounts:
                        - {name: run, mountPath: \(quoted(job.folder))}
                  volumes:
                    - name: run
                      persistentVolumeClaim: {claimName: chunkwise-run}
            EOF
            # When the job is complete: \(job.merge)
            """
    }
}
