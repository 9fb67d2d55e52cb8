/// Evaluates an expression whose error is thrown as one of another type.
///
/// - Parameters:
///   - outer: Makes the error that is thrown of the expression's own.
///   - expression: The expression.
/// - Returns: The expression's value.
/// - Throws: What `outer` makes of the expression's error.
package func rethrowing<Value, Inner: Error, Outer: Error>(
    as outer: (Inner) -> Outer, _ expression: @autoclosure () throws(Inner) -> Value
) throws(Outer) -> Value {
    do throws(Inner) {
        return try expression()
    } catch {
        throw outer(error)
    }
}
