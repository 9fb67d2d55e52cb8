import BackendRegistry
import ByteSources
import RandomAccess
import Subject
import SubjectProtocol
import Support
import TestSupport
import Testing

/// A subject over libgcrypt, with windows of 64 bytes, that has a plaintext open under 1, as a file.
func openSubject(
    _ plaintext: [UInt8], _ strategy: Strategy, access: AccessPolicy = .block, threadCount: Int = 1,
    extraWork: ExtraWork? = nil, folder: TemporaryFolder, wrap: (any ByteSource) -> any ByteSource = { $0 }
) throws -> ReaderSubject {
    let backend = try BackendRegistry.backend(named: "libgcrypt")
    let key = try SecretKey(Samples.bytes(16))
    var ciphertext: [UInt8] = []
    let encryptor = try ObjectEncryptor(strategy: strategy, backend: backend, key: key)
    try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
    try encryptor.finish { ciphertext += $0 }
    let subject = ReaderSubject(
        backend: backend,
        configuration: ReaderConfiguration(
            access: access, windowByteCount: 64, threadCount: threadCount, extraWork: extraWork),
        programVersion: "0")
    var members = strategy.protocolMembers
    members["key"] = .string(Hexadecimal.encode(Samples.bytes(16)))
    members["source"] = ["path": .string(try folder.file("object", ciphertext))]
    let parameters = try OpenParameters(.object(members))
    let source = wrap(try subject.source(try #require(members["source"]), parameters: parameters))
    #expect(try subject.open(id: 1, parameters: parameters, source: source) == UInt64(plaintext.count))
    return subject
}
