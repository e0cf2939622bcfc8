/// Literals, so that defaults and constants read well: `default: "New Item"`.
///
/// A literal has the case that matches its syntax. A model converts the default `1` of a `double` attribute to `1.0`.
extension StoredValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral
{
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
}
