import ArgumentParser
import Measurement

extension ByteSize: ExpressibleByArgument {
    /// Reads a size from the command line.
    public init?(argument: String) {
        self.init(argument)
    }

    /// How help shows a size that is meant when none is given.
    public var defaultValueDescription: String { description }
}
