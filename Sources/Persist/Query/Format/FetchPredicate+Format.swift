extension FetchPredicate {
  /// Reads a predicate in NSPredicate's format language.
  ///
  /// ```swift
  /// try FetchPredicate("name BEGINSWITH[cd] %@ AND age >= %d", "A", 18)
  /// try FetchPredicate("%K == %@", "owner.name", "Ada")
  /// try FetchPredicate("SUBQUERY(cars, $car, $car.maker == $maker).@count > 2")
  /// ```
  ///
  /// Beyond NSPredicate's own language, `#"any text"` is a key that isn't a word, and a list may stand in
  /// parentheses.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column and what was expected there;
  ///   ``PersistenceError/Code/limitExceeded`` where it nests too deeply.
  public init(_ format: String, _ arguments: (any FetchArgument)?...) throws {
    try self.init(format, arguments: arguments)
  }

  /// Reads a predicate in NSPredicate's format language, with its arguments as an array.
  public init(_ format: String, arguments: [(any FetchArgument)?]) throws {
    self = try FormatParser.predicate(format, arguments: arguments.map(FetchExpression.value))
  }

  /// The predicate as a format string without placeholders, which reads back to an equal predicate.
  public var format: String {
    var printer = FormatPrinter()
    printer.write(self)
    return printer.text
  }
}

extension FetchExpression {
  /// Reads an expression in NSPredicate's format language, such as `items.@sum.price * 2` or `canonical:(name)`.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column and what was expected there;
  ///   ``PersistenceError/Code/limitExceeded`` where it nests too deeply.
  public init(_ format: String, _ arguments: (any FetchArgument)?...) throws {
    try self.init(format, arguments: arguments)
  }

  /// Reads an expression in NSPredicate's format language, with its arguments as an array.
  public init(_ format: String, arguments: [(any FetchArgument)?]) throws {
    self = try FormatParser.expression(format, arguments: arguments.map(FetchExpression.value))
  }

  /// The expression as a format string without placeholders, which reads back to an equal expression.
  public var format: String {
    var printer = FormatPrinter()
    printer.write(self)
    return printer.text
  }
}

extension FetchPredicate: CustomStringConvertible {
  public var description: String { format }
}

extension FetchExpression: CustomStringConvertible {
  public var description: String { format }
}

/// Predicates and expressions are coded as their format strings. One with key paths is given their names before.
extension FetchPredicate: Codable {
  public init(from decoder: any Decoder) throws {
    try self.init(decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    try resolvingKeyPaths { throw $0.withoutNames }.encodeNamed(to: encoder)
  }

  private func encodeNamed(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(format)
  }
}

extension FetchExpression: Codable {
  public init(from decoder: any Decoder) throws {
    try self.init(decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    try resolvingKeyPaths { throw $0.withoutNames }.encodeNamed(to: encoder)
  }

  private func encodeNamed(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(format)
  }
}
