/// A JSON value that keeps everything and promises nothing.
indirect enum JSONNode: Decodable, Equatable {
    case object([String: JSONNode])
    case array([JSONNode])
    case string(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case null

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONNode].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONNode].self))
        }
    }

    /// The value as an error message shows it; long ones are cut.
    var shown: String {
        switch self {
        case .object: "an object"
        case .array(let values): "an array of \(values.count)"
        case .string(let text): text.count <= 40 ? "\"\(text)\"" : "\"\(text.prefix(40))…\""
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .boolean(let value): "\(value)"
        case .null: "null"
        }
    }
}
