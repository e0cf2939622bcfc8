/// A function of the format language. Raw values are Core Data's names.
#if hasAttribute(nonexhaustive)
  @nonexhaustive(warn)
#endif
public enum FetchFunction: String, Sendable, Hashable, CaseIterable {
  // Arithmetic, with operators
  /// The sum of two numbers: `+`. Null if either is null, as for every arithmetic function.
  case add = "add:to:"
  /// The first number minus the second: `-`.
  case subtract = "from:subtract:"
  /// The product of two numbers: `*`.
  case multiply = "multiply:by:"
  /// Division, integral for two integers. Division by zero is null.
  case divide = "divide:by:"
  /// The remainder of a division, with the sign of the dividend. Null for a divisor of 0.
  case modulus = "modulus:by:"
  /// The first number raised to the power of the second: `**`. An integer for two integers if it fits, otherwise a
  /// double.
  case power = "raise:toPower:"
  /// The number with the opposite sign: prefix `-`.
  case negate = "chs:"
  /// The bits set in both integers: `&`. Null for numbers with a fraction, as for every function on bits.
  case bitwiseAnd = "bitwiseAnd:with:"
  /// The bits set in at least one of two integers: `|`.
  case bitwiseOr = "bitwiseOr:with:"
  /// The bits set in exactly one of two integers: `^`.
  case bitwiseXor = "bitwiseXor:with:"
  /// The first integer shifted left by the second: `<<`. A negative distance shifts right.
  case shiftLeft = "leftshift:by:"
  /// The first integer shifted right by the second, keeping its sign: `>>`. A negative distance shifts left.
  case shiftRight = "rightshift:by:"
  /// The integer with all its bits inverted: `~`.
  case onesComplement = "onesComplement:"

  // Numbers
  /// The absolute value of a number.
  case absolute = "abs:"
  /// The number rounded up to a whole one, in its type.
  case ceiling = "ceiling:"
  /// The number rounded down to a whole one, in its type.
  case floor = "floor:"
  /// The number rounded toward zero to a whole one, in its type.
  case truncate = "trunc:"
  /// The square root, as a double; null for a negative number.
  case squareRoot = "sqrt:"
  /// The logarithm to base 10.
  case logarithm = "log:"
  /// The logarithm to base *e*; null for a negative number.
  case naturalLogarithm = "ln:"
  /// *e* raised to the power of the number.
  case exponential = "exp:"
  /// A random number from 0 up to but not including 1.
  case random = "random"
  /// A random integer from 0 up to but not including the argument.
  case randomBelow = "random:"

  // Texts
  /// The text in upper case, independently of the locale.
  case uppercase = "uppercase:"
  /// The text in lower case, independently of the locale.
  case lowercase = "lowercase:"
  /// Lower case without diacritical marks.
  case canonical = "canonical:"
  /// The number of UTF-16 code units of a text, as in Core Data; for data the number of bytes.
  case length = "length:"

  // Collections
  /// The sum of the non-null values; 0 if there are none.
  case sum = "sum:"
  /// The number of values; a null argument counts as none.
  case count = "count:"
  /// The least of the non-null values: numbers, texts or dates; null if there are none.
  case minimum = "min:"
  /// The greatest of the non-null values: numbers, texts or dates; null if there are none.
  case maximum = "max:"
  /// The mean of the non-null values; null if there are none. A decimal for decimals, otherwise a double.
  case average = "average:"
  /// The middle one of the sorted non-null values, or the mean of the two middle ones; null if there are none.
  case median = "median:"
  /// The most frequent values.
  case mode = "mode:"
  /// The population standard deviation of the members.
  case standardDeviation = "stddev:"
  /// The members of a collection without duplicates, in order of first occurrence.
  case distinct = "distinct:"
  /// Set operations, with operators `UNION`, `INTERSECT`, `MINUS`.
  case union = "union:with:"
  /// The distinct members of the first collection that are also in the second.
  case intersection = "intersect:with:"
  /// The distinct members of the first collection that aren't in the second.
  case difference = "minus:with:"

  // Others
  /// The time when evaluation began.
  case now = "now"
  /// `CAST(value, "NSDate")`.
  case cast = "castObject:toType:"
  /// Returns its argument; instructs a store not to use an index for it.
  case noIndex = "noindex:"

  /// The number of arguments. Functions over collections take one collection or several values.
  var argumentCount: ClosedRange<Int> {
    switch self {
    case .random, .now: 0...0
    case .add, .multiply: 2...Int.max
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
