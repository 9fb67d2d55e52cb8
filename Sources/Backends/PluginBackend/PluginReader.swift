internal import CChunkwisePlugin
package import RandomAccess

/// The whole reader of a plug-in: it opens objects and reads them by itself.
package struct PluginReader: Sendable {
    let library: PluginLibrary
    let isGuarded: Bool

    /// The names of the strategies that it reads.
    package var strategyNames: [String] { library.strategies }

    /// Opens an object.
    ///
    /// - Throws: The error of the plug-in or the source.
    package func open(
        _ source: any ByteSource, strategy: Strategy, key: SecretKey
    ) throws(DecryptionError) -> PluginObject {
        guard strategyNames.contains(strategy.name) else {
            throw .unsupported("strategy \"\(strategy.name)\" in \(library.name)")
        }
        return try PluginObject(self, source, strategy, key)
    }
}

/// An open object of a plug-in, shared by any number of cursors on any number of threads.
package final class PluginObject: @unchecked Sendable {
    /// The plaintext's length in bytes.
    package let plaintextByteCount: UInt64

    let reader: PluginReader
    let source: PluginSource
    let pointer: UnsafeMutableRawPointer?

    fileprivate init(
        _ reader: PluginReader, _ source: any ByteSource, _ strategy: Strategy, _ key: SecretKey
    ) throws(DecryptionError) {
        let source = PluginSource(source)
        var (object, length) = (UnsafeMutableRawPointer?.none, 0 as UInt64)
        let name = strategy.name
        let result = try key.withUnsafeBytes { key throws(DecryptionError) in
            try PluginParameters.with(strategy, key: key, isGuarded: reader.isGuarded) { parameters, bytes in
                PluginCall.run("open", input: bytes) {
                    name.withCString { name in
                        reader.library.table.pointee.open?(
                            name, parameters.baseAddress, parameters.count, source.pointer, &object, &length)
                            ?? Int32(CHUNKWISE_UNSUPPORTED.rawValue)
                    }
                }
            }
        }
        guard result == 0 else { throw .plugin(.failed(function: "open", result: result)) }
        (self.reader, self.source, pointer, plaintextByteCount) = (reader, source, object, length)
    }

    deinit {
        PluginCall.run("close") { reader.library.table.pointee.close?(pointer) }
        eraseStack()
    }

    /// Returns a cursor for one thread.
    package func makeCursor() throws(DecryptionError) -> any RandomAccessDecryptor { try PluginCursor(self) }
}

private final class PluginCursor: RandomAccessDecryptor {
    private let object: PluginObject
    private let pointer: UnsafeMutableRawPointer?
    private let guarded: GuardedMemory?

    init(_ object: PluginObject) throws(DecryptionError) {
        var cursor: UnsafeMutableRawPointer?
        try PluginCall.check("cursor") {
            object.reader.library.table.pointee.cursor?(object.pointer, &cursor)
                ?? Int32(CHUNKWISE_UNSUPPORTED.rawValue)
        }
        (self.object, pointer) = (object, cursor)
        guarded = object.reader.isGuarded ? GuardedMemory() : nil
    }

    deinit {
        PluginCall.run("cursor_free") { object.reader.library.table.pointee.cursor_free?(pointer) }
        eraseStack()
    }

    var plaintextByteCount: UInt64 { object.plaintextByteCount }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let output = try guarded?.buffer(byteCount: buffer.count) ?? buffer
        var delivered = 0
        let read = object.reader.library.table.pointee.read
        try PluginCall.check("read", output: output) {
            read?(pointer, offset, output.baseAddress, output.count, &delivered)
                ?? Int32(CHUNKWISE_UNSUPPORTED.rawValue)
        }
        try guarded?.check("read", object.reader.library.name)
        guard (0...buffer.count).contains(delivered) else {
            throw .backend(
                name: object.reader.library.name, operation: "read",
                reason:
                    "it says that it delivered \(UInt(bitPattern: delivered)) bytes: expected at most \(buffer.count)")
        }
        if guarded != nil { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: output[..<delivered])) }
        return delivered
    }

    func checkVersion() throws(DecryptionError) { try object.source.base.checkVersion() }
}

/// A source in the form that a plug-in expects.
final class PluginSource: @unchecked Sendable {
    let base: any ByteSource
    /// The plug-in's view of the source, valid as long as this object exists.
    let pointer: UnsafeMutablePointer<chunkwise_source>

    init(_ base: any ByteSource) {
        self.base = base
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: chunkwise_source())
        pointer.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        pointer.pointee.length = base.byteCount
        pointer.pointee.read_at = { context, offset, buffer, count in
            guard let context else { return -Int64(CHUNKWISE_IO.rawValue) }
            return PluginCall.outside {
                Unmanaged<PluginSource>.fromOpaque(context).takeUnretainedValue().read(offset, buffer, count)
            }
        }
    }

    deinit {
        pointer.deallocate()
    }

    private func read(_ offset: UInt64, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int64 {
        guard let buffer, count > 0 else { return 0 }
        let output = UnsafeMutableRawBufferPointer(start: buffer, count: count)
        do throws(DecryptionError) {
            return Int64(try base.read(at: offset, into: FetchBuffers(output)))
        } catch {
            return -Int64(CHUNKWISE_IO.rawValue)
        }
    }
}

/// The parameters of `open`, in the form that a plug-in expects.
private enum PluginParameters {
    /// Calls `body` with the parameters of a strategy and, if guarded, the memory with all their bytes. That memory is
    /// read-only, and ends right behind the key. Source: PROTOCOL.md, "open".
    static func with<Result>(
        _ strategy: Strategy, key: UnsafeRawBufferPointer, isGuarded: Bool,
        _ body: (_ parameters: UnsafeBufferPointer<chunkwise_parameter>, _ bytes: UnsafeRawBufferPointer?) -> Result
    ) throws(DecryptionError) -> Result {
        // A zero follows each name, and each value.
        var values: [(name: [UInt8], bytes: [UInt8], count: Int)] = []
        for input in strategy.format.inputs {
            let name = Array(input.name.utf8) + [0]
            switch strategy[input.name] {
            case .integer(let number):
                values.append((name, withUnsafeBytes(of: UInt64(clamping: number)) { Array($0) }, 8))
            case .bytes(let bytes): values.append((name, bytes.array + [0], bytes.count))
            case nil: break
            }
        }
        // Each starts behind the one before it, at a multiple of 16.
        func stride(_ bytes: [UInt8]) -> Int { (bytes.count + 15) / 16 * 16 }
        let space = values.reduce(0) { $0 + stride($1.name) + stride($1.bytes) }
        func parameters(
            in memory: UnsafeMutableRawBufferPointer, key: UnsafeRawBufferPointer
        ) -> [chunkwise_parameter] {
            var parameters = [chunkwise_parameter(name: keyName, bytes: key.baseAddress, count: key.count)]
            var offset = 0
            func place(_ bytes: [UInt8]) -> UnsafeMutableRawPointer? {
                let place = UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + bytes.count])
                place.copyBytes(from: bytes)
                offset += stride(bytes)
                return place.baseAddress
            }
            for value in values {
                let name = place(value.name).map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) }
                parameters.append(chunkwise_parameter(name: name, bytes: place(value.bytes), count: value.count))
            }
            return parameters
        }
        guard isGuarded else {
            return withUnsafeTemporaryAllocation(byteCount: max(space, 1), alignment: 16) { memory in
                parameters(in: memory, key: key).withUnsafeBufferPointer { body($0, nil) }
            }
        }
        let guarded = GuardedMemory()
        // The key ends where the buffer does, and the others start at multiples of 16, for any length of the key.
        let memory = try guarded.buffer(byteCount: space + (key.count + 15) / 16 * 16)
        let copy = UnsafeMutableRawBufferPointer(rebasing: memory[(memory.count - key.count)...])
        copy.copyMemory(from: key)
        let given = parameters(in: memory, key: UnsafeRawBufferPointer(copy))
        guarded.protect(true)
        return given.withUnsafeBufferPointer { body($0, UnsafeRawBufferPointer(memory)) }
    }

    private static var keyName: UnsafePointer<CChar> {
        let text: StaticString = "key"
        return UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
