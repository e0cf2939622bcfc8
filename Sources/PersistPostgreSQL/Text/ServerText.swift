import Foundation
import Persist

/// PostgreSQL's SQL with its parameters: the counterpart of ``SQLText``, into which a raw `String` doesn't fit either.
///
/// Names are quoted in lower case, so that they can also be written without quotes by hand. The server cuts long names;
/// here they are cut without collisions. Parameters are numbered when the text is complete.
///
/// ```swift
/// let sql: ServerText = "SELECT version FROM \(table: name) WHERE id = ANY(\(integers: keys))"
/// ```
struct ServerText: Sendable, ComposedSQL {
  fileprivate enum Part: Sendable {
    case text(String)
    case parameter(ServerParameter)
    /// The schema of the store.
    case schema
  }

  fileprivate var parts: [Part]
  /// The whole text with its parameters, which can't become part of another one; nil if ``parts`` has them.
  fileprivate let complete: (text: String, parameters: [ServerParameter])?

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    init(literalCapacity: Int, interpolationCount: Int) { parts.reserveCapacity(2 * interpolationCount + 1) }

    mutating func appendLiteral(_ literal: StaticString) {
      literal.withUTF8Buffer { if !$0.isEmpty { parts.append(.text(String(decoding: $0, as: UTF8.self))) } }
    }

    /// The name of a column, index, trigger or function.
    mutating func appendInterpolation(name: String) { parts.append(.text(ServerText.quoted(name))) }

    /// Names separated by commas.
    mutating func appendInterpolation(names: some Sequence<String>) {
      parts.append(.text(names.map(ServerText.quoted).joined(separator: ", ")))
    }

    /// The name of a table in the store's schema.
    mutating func appendInterpolation(table name: String) {
      parts.append(.schema)
      parts.append(.text("." + ServerText.quoted(name)))
    }

    /// Another schema.
    mutating func appendInterpolation(schemaNamed name: String) {
      parts.append(.text(ServerText.quotedExactly(name)))
    }

    /// The store's schema.
    mutating func appendInterpolation(schema: Void) { parts.append(.schema) }

    mutating func appendInterpolation(row: SQLRow) { parts.append(.text("r\(row.number)")) }

    /// An integer literal.
    mutating func appendInterpolation(number: Int64) { parts.append(.text("\(number)")) }

    /// Integers separated by commas.
    mutating func appendInterpolation(numbers: some Sequence<Int>) {
      parts.append(.text(numbers.map(String.init).joined(separator: ", ")))
    }

    /// A text literal, for definitions, which accept no parameters.
    mutating func appendInterpolation(literal: String) { parts.append(.text(ServerText.literal(literal))) }

    /// A literal of one byte.
    mutating func appendInterpolation(byte: UInt8) {
      parts.append(.text("'\\x" + [byte].hexadecimalDigits + "'::bytea"))
    }

    mutating func appendInterpolation(parameter: ServerParameter) { parts.append(.parameter(parameter)) }
    mutating func appendInterpolation(integer: Int64) { parts.append(.parameter(.integer(integer))) }
    mutating func appendInterpolation(double: Double) { parts.append(.parameter(.double(double))) }
    mutating func appendInterpolation(text: String) { parts.append(.parameter(.text(text))) }
    mutating func appendInterpolation(data: Data) { parts.append(.parameter(.bytes(data))) }
    mutating func appendInterpolation(integers: some Collection<Int64>) {
      parts.append(.parameter(.integers(integers)))
    }

    mutating func appendInterpolation(_ part: ServerText) {
      assert(part.complete == nil, "A complete statement can't become part of another one.")
      parts += part.parts
    }
  }

  init(stringLiteral literal: StaticString) {
    parts = [.text(literal.withUTF8Buffer { String(decoding: $0, as: UTF8.self) })]
    complete = nil
  }

  init(stringInterpolation: StringInterpolation) { (parts, complete) = (stringInterpolation.parts, nil) }

  /// A statement of ``ServerTexts``.
  init(complete text: String, _ parameters: [ServerParameter]) { (parts, complete) = ([], (text, parameters)) }

  /// A definition from the server's catalog.
  init(stored definition: StoredDefinition) { (parts, complete) = ([.text(definition.sql)], nil) }

  static func += (left: inout ServerText, right: ServerText) { left.parts += right.parts }

  /// The complete statement.
  ///
  /// - Parameter isReused: Whether it is run often, with other values of its parameters.
  func statement(in schema: String, isReused: Bool = false) -> ServerStatement {
    if let complete { return ServerStatement(complete.text, complete.parameters, isReused: isReused) }
    var text = ""
    var parameters: [ServerParameter] = []
    for part in parts {
      switch part {
      case .text(let piece): text += piece
      case .schema: text += Self.quotedExactly(schema)
      case .parameter(let parameter):
        parameters.append(parameter)
        text += "$\(parameters.count)::\(parameter.type.name)"
      }
    }
    return ServerStatement(text, parameters, isReused: isReused)
  }

  /// The statement without the schema, for messages.
  var shown: String {
    var text = ""
    for part in parts {
      switch part {
      case .text(let piece): text += text.isEmpty || !piece.hasPrefix(".") ? piece : String(piece.dropFirst())
      case .schema: break
      case .parameter: text += "?"
      }
    }
    return text
  }

  // MARK: Versions

  /// The assignment that counts the version of a row up: a part of every update, so that others notice the change.
  static let countingUp: ServerText = "version = version + 1"

  /// - Parameter row: The alias of the row.
  static func countingUp(of row: ServerText) -> ServerText { "version = \(row).version + 1" }

  // MARK: Names and literals

  /// The longest name in bytes; the server cuts longer ones.
  private static let longestName = 63

  /// The name of an object of the model in the database.
  static func name(_ name: String) -> String {
    let folded = ServerNames.name(name)
    guard folded.utf8.count > longestName else { return folded }
    let digest = SHA256.digest(Array(folded.utf8)).prefix(5).hexadecimalDigits
    var start = Substring(folded)
    while start.utf8.count > longestName - digest.utf8.count - 1 { start = start.dropLast() }
    return start + "_" + digest
  }

  /// The name of a table or a sequence with its schema, as a value that the server reads as a name.
  static func fullName(_ name: String, in schema: String) -> String {
    quotedExactly(schema) + "." + quoted(name)
  }

  /// The name on the server, in quotation marks.
  static func quoted(_ name: String) -> String { quotedExactly(self.name(name)) }

  /// Lets the server return definitions in which only the names are quoted that need it, until the end of the
  /// transaction: the user or the database may have another setting.
  static let plainNames: ServerText = "SET LOCAL quote_all_identifiers TO off"

  fileprivate static func quotedExactly(_ name: String) -> String {
    "\"" + name.doubling("\"") + "\""
  }

  fileprivate static func literal(_ text: String) -> String {
    // Backslashes have no meaning in plain literals, as long as the server's settings are standard; this form doesn't
    // depend on them.
    "E'" + text.doubling("\\", "'") + "'"
  }
}

extension ServerParameter.ValueType {
  /// The name of the type in SQL.
  fileprivate var name: String {
    switch self {
    case .boolean: "boolean"
    case .integer: "bigint"
    case .int16: "smallint"
    case .int32: "integer"
    case .double: "float8"
    case .text: "text"
    case .bytes: "bytea"
    case .uuid: "uuid"
    case .booleans: "boolean[]"
    case .integers: "bigint[]"
    case .int16s: "smallint[]"
    case .int32s: "integer[]"
    case .uuids: "uuid[]"
    case .doubles: "float8[]"
    case .texts: "text[]"
    case .byteStrings: "bytea[]"
    case .moment: "timestamptz"
    case .moments: "timestamptz[]"
    }
  }
}
