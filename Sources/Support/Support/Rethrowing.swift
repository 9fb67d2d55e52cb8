/// Evaluates an expression, and throws its error as one of another type.
///
/// - Parameters:
///   - outer: Converts the expression's error.
///   - expression: The expression.
/// - Returns: The expression's value.
/// - Throws: The converted error.
package func rethrowing<Value, Inner: Error, Outer: Error>(
    as outer: (Inner) -> Outer, _ expression: @autoclosure () throws(Inner) -> Value
) throws(Outer) -> Value {
    do throws(Inner) {
        return try expression()
    } catch {
        throw outer(error)
    }
}
