extension FetchPredicate {
  /// Parses a predicate in NSPredicate's format language.
  ///
  /// ```swift
  /// try FetchPredicate("name BEGINSWITH[cd] %@ AND age >= %d", "A", 18)
  /// try FetchPredicate("%K == %@", "owner.name", "Ada")
  /// try FetchPredicate("SUBQUERY(cars, $car, $car.maker == $maker).@count > 2")
  /// ```
  ///
  /// As an extension of NSPredicate's language, `#"any text"` is a key that isn't a plain word, and a list may be
  /// written in parentheses.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column and the expected syntax;
  ///   ``PersistenceError/Code/limitExceeded`` if it nests too deeply.
  public init(_ format: String, _ arguments: (any FetchArgument)?...) throws {
    try self.init(format, arguments: arguments)
  }

  /// Parses a predicate like ``init(_:_:)``, with the label of NSPredicate.
  public init(format: String, _ arguments: (any FetchArgument)?...) throws {
    try self.init(format, arguments: arguments)
  }

  /// Parses a predicate in NSPredicate's format language, with its arguments in an array.
  public init(_ format: String, arguments: [(any FetchArgument)?]) throws {
    self = try FormatParser.predicate(format, arguments: arguments.map(FetchExpression.value))
  }

  /// The predicate as a format string without placeholders, which parses to an equal predicate.
  public var format: String {
    var printer = FormatPrinter()
    printer.write(self)
    return printer.text
  }
}

extension FetchExpression {
  /// Parses an expression in NSPredicate's format language, such as `items.@sum.price * 2` or `canonical:(name)`.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column and the expected syntax;
  ///   ``PersistenceError/Code/limitExceeded`` if it nests too deeply.
  public init(_ format: String, _ arguments: (any FetchArgument)?...) throws {
    try self.init(format, arguments: arguments)
  }

  /// Parses an expression like ``init(_:_:)``, with the label of NSExpression.
  public init(format: String, _ arguments: (any FetchArgument)?...) throws {
    try self.init(format, arguments: arguments)
  }

  /// Parses an expression in NSPredicate's format language, with its arguments in an array.
  public init(_ format: String, arguments: [(any FetchArgument)?]) throws {
    self = try FormatParser.expression(format, arguments: arguments.map(FetchExpression.value))
  }

  /// The expression as a format string without placeholders, which parses to an equal expression.
  public var format: String {
    var printer = FormatPrinter()
    printer.write(self)
    return printer.text
  }
}

extension FetchPredicate: CustomStringConvertible {
  public var description: String { format }
}

extension FetchPredicate {
  /// The predicate as a format string, with its values as literals; the same as its description.
  public var predicateFormat: String { format }
}

extension FetchExpression: CustomStringConvertible {
  public var description: String { format }
}

/// Predicates and expressions are encoded as their format strings. Key paths must be resolved to names first.
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
