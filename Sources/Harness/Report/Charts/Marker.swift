/// The shape that stands for a series beside its colour and dashes.
enum Marker {
    /// Returns the path of a filled shape around a point.
    static func commands(shape: Int, x: Double, y: Double, radius: Double = 5) -> String {
        func point(_ dx: Double, _ dy: Double) -> String {
            "\(SVGWriter.number(x + dx * radius)) \(SVGWriter.number(y + dy * radius))"
        }
        switch shape {
        case 0:
            let arc = "A\(SVGWriter.number(radius)) \(SVGWriter.number(radius)) 0 1 0 "
            return "M\(point(-1, 0))\(arc)\(point(1, 0))\(arc)\(point(-1, 0))Z"
        case 1: return "M\(point(-0.9, -0.9))L\(point(0.9, -0.9))L\(point(0.9, 0.9))L\(point(-0.9, 0.9))Z"
        case 2: return "M\(point(0, -1.15))L\(point(1.1, 0.85))L\(point(-1.1, 0.85))Z"
        case 3: return "M\(point(0, -1.3))L\(point(1.3, 0))L\(point(0, 1.3))L\(point(-1.3, 0))Z"
        case 4: return "M\(point(0, 1.15))L\(point(1.1, -0.85))L\(point(-1.1, -0.85))Z"
        default:
            let corners = [(-1.0, -0.35), (-0.35, -0.35), (-0.35, -1.0), (0.35, -1.0), (0.35, -0.35), (1.0, -0.35)]
            let path = corners + corners.map { (-$0.0, -$0.1) }
            return "M" + path.map { point($0.0 * 1.15, $0.1 * 1.15) }.joined(separator: "L") + "Z"
        }
    }
}
