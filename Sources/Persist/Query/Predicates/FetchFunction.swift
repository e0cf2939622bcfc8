/// A function of the format language. Raw values are Core Data's names.
public enum FetchFunction: String, Sendable, Hashable, CaseIterable {
  // Arithmetic, with operators
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  /// Division, integral for two integers. Division by zero is null.
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case power = "raise:toPower:"
  case negate = "chs:"
  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case shiftLeft = "leftshift:by:"
  case shiftRight = "rightshift:by:"
  case onesComplement = "onesComplement:"

  // Numbers
  case absolute = "abs:"
  case ceiling = "ceiling:"
  case floor = "floor:"
  case truncate = "trunc:"
  case squareRoot = "sqrt:"
  /// The logarithm to base 10.
  case logarithm = "log:"
  case naturalLogarithm = "ln:"
  case exponential = "exp:"
  /// A random number from 0 up to but not including 1.
  case random = "random"
  /// A random integer from 0 up to but not including the argument.
  case randomBelow = "random:"

  // Texts
  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  /// Lower case without diacritical marks.
  case canonical = "canonical:"
  /// The number of UTF-16 code units of a text, as in Core Data; for data the number of bytes.
  case length = "length:"

  // Collections
  case sum = "sum:"
  case count = "count:"
  case minimum = "min:"
  case maximum = "max:"
  case average = "average:"
  case median = "median:"
  /// The most frequent values.
  case mode = "mode:"
  /// The population standard deviation of the members.
  case standardDeviation = "stddev:"
  case distinct = "distinct:"
  /// Set operations, with operators `UNION`, `INTERSECT`, `MINUS`.
  case union = "union:with:"
  case intersection = "intersect:with:"
  case difference = "minus:with:"

  // Others
  /// The time when evaluation began.
  case now = "now"
  /// `CAST(value, "NSDate")`.
  case cast = "castObject:toType:"
  /// Returns its argument; tells a store not to use an index for it.
  case noIndex = "noindex:"

  /// The number of arguments. Functions over collections take one collection or several values.
  var argumentCount: ClosedRange<Int> {
    switch self {
    case .random, .now: 0...0
    case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation: 1...Int.max
    default: rawValue.count { $0 == ":" }...rawValue.count { $0 == ":" }
    }
  }

  /// The function with a name in the format language, with or without its last colon, as in `abs:(x)` and `abs(x)`.
  init?(formatName name: String, argumentCount: Int) {
    // The name in NSExpression's documentation.
    if name == "randomn:", argumentCount == 1 {
      self = .randomBelow
      return
    }
    let candidates = [name, name + ":", name.lowercased(), name.lowercased() + ":"]
    let named = candidates.compactMap(FetchFunction.init(rawValue:))
    guard let function = named.first(where: { $0.argumentCount.contains(argumentCount) }) ?? named.first
    else { return nil }
    self = function
  }
}
