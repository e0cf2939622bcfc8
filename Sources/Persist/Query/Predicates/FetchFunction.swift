/// A function of the format language. Raw values are the names that Core Data knows them by.
public enum FetchFunction: String, Sendable, Hashable, CaseIterable {
  // Arithmetic, with operators
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  /// Two whole numbers divide as whole numbers. Division by zero gives no value.
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
  /// A number from 0 up to 1, another one each time.
  case random = "random"
  /// A whole number from 0 up to the argument, another one each time.
  case randomBelow = "random:"

  // Texts
  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  /// Lower case without diacritical marks.
  case canonical = "canonical:"
  /// The number of UTF-16 units, as Core Data counts the length of texts; of data the number of bytes.
  case length = "length:"

  // Collections
  case sum = "sum:"
  case count = "count:"
  case minimum = "min:"
  case maximum = "max:"
  case average = "average:"
  case median = "median:"
  /// The values that occur most often.
  case mode = "mode:"
  /// The standard deviation of all members.
  case standardDeviation = "stddev:"
  case distinct = "distinct:"
  /// Sets, with operators `UNION`, `INTERSECT`, `MINUS`.
  case union = "union:with:"
  case intersection = "intersect:with:"
  case difference = "minus:with:"

  // Others
  /// The time at which evaluation began.
  case now = "now"
  /// `CAST(value, "NSDate")`.
  case cast = "castObject:toType:"
  /// Its argument; tells a store not to use an index for it.
  case noIndex = "noindex:"

  /// How many arguments the function takes. Those over collections take one collection, or several values.
  var argumentCount: ClosedRange<Int> {
    switch self {
    case .random, .now: 0...0
    case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation: 1...Int.max
    default: rawValue.count { $0 == ":" }...rawValue.count { $0 == ":" }
    }
  }

  /// The function that a name of the format language stands for: with or without its last colon, as in `abs:(x)` and
  /// `abs(x)`.
  init?(formatName name: String, argumentCount: Int) {
    // The documentation of NSExpression calls it so.
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
