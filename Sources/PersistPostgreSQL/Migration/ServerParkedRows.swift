import Foundation
import Persist

/// The rows of what is parked on a server, in the form that files have.
extension ServerInspector {
  /// The number of rows that are read at once.
  private static let rowsAtOnce = 500

  func forEachParkedRow(
    of slot: ParkedSlot, _ types: ParkedTypes, _ body: ([SQLValue]) throws -> Void
  ) throws {
    let (rows, keys) = try mapped { try ServerText.parkedRows(slot, types, kinds: columnKinds) }
    var condition: ServerText = ""
    while true {
      let page: ServerText =
        "SELECT * FROM (\(rows)) AS p\(condition) ORDER BY \(names: keys) LIMIT \(number: Int64(Self.rowsAtOnce))"
      // Makes texts of numbers and dates independent of the server's settings.
      guard let result = try mapped({ try session.run([ServerText.exactTexts, page]).last }) else { return }
      for row in 0..<result.rowCount {
        let values = (0..<slot.kind.rowColumns.count).map { column -> SQLValue in
          if result.isNull(row, column) { return .null }
          guard slot.kind != .relationship, column > 0 else { return .integer(result.integer(row, column)) }
          return SQLValue(parked: result.text(row, column), column == 1 ? types.value : types.standIn)
        }
        try body(values)
      }
      guard result.rowCount == Self.rowsAtOnce else { return }
      let last = keys.indices.map { "\(number: result.integer(result.rowCount - 1, $0))" as ServerText }
      condition = " WHERE (\(names: keys)) > (\(last.joined(separator: ", ")))"
    }
  }
}

extension ServerText {
  /// The rows as texts, and the names of their keys.
  fileprivate static func parkedRows(
    _ slot: ParkedSlot, _ types: ParkedTypes, kinds: (String) throws -> ColumnKinds
  ) rethrows -> (rows: ServerText, keys: [String]) {
    let own: ServerText = "slot = \(number: Int64(slot.number))"
    guard slot.kind != .relationship else {
      let columns = slot.kind.rowColumns.map { "\(name: $0)::bigint AS \(name: $0)" as ServerText }
      let table = ParkedSlot.Table.pairs
      return (
        "SELECT \(columns.joined(separator: ", ")) FROM \(table: table) WHERE \(own)", ["owner", "member"]
      )
    }
    let values: ServerText = "\(table: ParkedSlot.Table.values)"
    let standIn = ServerTerms.Kind(parked: types.standIn).textInFiles("standin")
    guard let column = slot.column else {
      let value = ServerTerms.Kind(parked: types.value).textInFiles("value")
      return ("SELECT object, \(value) AS value, \(standIn) AS standin FROM \(values) WHERE \(own)", ["object"])
    }
    let kind = try kinds(column.table)[column.name.foldedIdentifier] ?? .bytes
    return (
      """
      SELECT t.id AS object, \(kind.parkedInFiles(column.name)) AS value, NULL AS standin \
      FROM \(table: column.table) AS t \
      WHERE t.entity = \(number: Int64(column.entityNumber)) AND t.\(name: column.name) IS NOT NULL \
      UNION ALL SELECT object, NULL, \(standIn) FROM \(values) WHERE \(own)
      """, ["object"]
    )
  }

  /// Parks rows in the form that files have.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a value that isn't of the slot's type.
  static func addParkedRows(_ rows: [[SQLValue]], to slot: ParkedSlot, _ types: ParkedTypes) throws -> ServerText {
    let isAttribute = slot.kind == .attribute
    let kinds = slot.kind.rowColumns.indices.map { index -> ServerTerms.Kind in
      switch (isAttribute, index) {
      case (true, 1): ServerTerms.Kind(parked: types.value)
      case (true, 2): ServerTerms.Kind(parked: types.standIn)
      default: .integer
      }
    }
    let columns = try kinds.enumerated().map { index, kind -> ServerParameter in
      let parameters = kind.parameters
      var array = ArrayParameter(parameters.array, of: parameters.element, count: rows.count)
      for row in rows where !array.append(row[index], kind) {
        throw PersistenceError(
          .invalidRequest, at: .property(slot.entity, slot.property),
          "The parked value \(row[index].words) of \(ModelVersion.quoted(slot.version)) isn't of the type that its "
            + "model declares, so a server can't hold it.",
          fix: "Purge the parked values of this property with `persist parked --purge`, or copy the store to a file.")
      }
      return array.parameter
    }
    let names = slot.kind.rowColumns
    let values = zip(names, kinds).enumerated().map { index, column -> ServerText in
      // The values of attributes and objects are texts.
      slot.kind != .relationship && index > 0 ? column.1.parked(column.0) : "t.\(name: column.0)"
    }
    let table = slot.kind == .relationship ? ParkedSlot.Table.pairs : ParkedSlot.Table.values
    let arrays = columns.map { "\(parameter: $0)" as ServerText }.joined(separator: ", ")
    return """
      INSERT INTO \(table: table) (slot, \(names: names)) SELECT \(number: Int64(slot.number)), \
      \(values.joined(separator: ", ")) FROM unnest(\(arrays)) AS t(\(names: names))
      """
  }
}

extension ServerTerms.Kind {
  /// The kind of the columns that have an attribute's values; integers without an attribute.
  fileprivate init(parked attribute: AttributeDescription?) {
    self = attribute.flatMap(LayoutNames.snakeCase.columnType).map(Self.init) ?? .integer
  }

  /// A parked text as one that represents the value in files: seconds since 2001 in place of a date.
  fileprivate func textInFiles(_ column: String) -> ServerText {
    self == .moment
      ? "\(text(term: "\(name: column)::timestamptz", as: .double))::text" : "\(name: column)"
  }

  /// The text for the value of a column of the row `t`.
  fileprivate func parkedInFiles(_ column: String) -> ServerText {
    self == .moment ? "\(text(term: "t.\(name: column)", as: .double))::text" : parked(column)
  }
}

extension ArrayParameter {
  /// Appends a value in the form that files have.
  ///
  /// - Returns: False if a column of the kind can't have it.
  fileprivate mutating func append(_ value: SQLValue, _ kind: ServerTerms.Kind) -> Bool {
    switch (kind, value) {
    case (_, .null): appendNull()
    case (.integer, .integer(let number)): append(number)
    case (.int32, .integer(let number)):
      guard let narrow = Int32(exactly: number) else { return false }
      append(narrow)
    case (.int16, .integer(let number)):
      guard let narrow = Int16(exactly: number) else { return false }
      append(narrow)
    case (.boolean, .integer(let number)): append(number == 0 ? 0 as UInt8 : 1)
    case (.double, .double(let number)) where !number.isNaN: append(number + 0)
    case (.double, .integer(let number)): append(Double(number))
    case (.moment, .double), (.moment, .integer):
      guard let seconds = value.seconds, let moment = Moment(Date(timeIntervalSinceReferenceDate: seconds)) else {
        return false
      }
      append(moment.microseconds)
    case (.decimal, _):
      guard let number = value.decimalValue, !number.isNaN else { return false }
      append(number.description)
    case (.text, .text(let text)):
      guard !StoredValue.string(text).hasNullCharacter else { return false }
      append(text)
    case (.bytes, .blob(let data)): append(data)
    case (.uuid, .blob(let data)) where data.count == 16: append(data)
    default: return false
    }
    return true
  }
}

extension SQLValue {
  /// The value that a parked text represents, in the form that files have.
  fileprivate init(parked text: String, _ attribute: AttributeDescription?) {
    let value: SQLValue? =
      switch ServerTerms.Kind(parked: attribute) {
      case .integer, .int32, .int16, .boolean: Int64(text).map { .integer($0) }
      case .double, .moment: Double(text).map { .double($0) }
      case .decimal:
        attribute.flatMap { attribute in
          Decimal(storedText: text).flatMap { SQLValue(.decimal($0), of: attribute) }
        }
      case .text: .text(text)
      case .bytes: Data(hexadecimal: text).map { .blob($0) }
      case .uuid: Data(hexadecimal: text.filter { $0 != "-" }).map { .blob($0) }
      }
    self = value ?? .text(text)
  }

  fileprivate var seconds: Double? {
    switch self {
    case .double(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
}

extension Data {
  /// Nil for text that isn't made of pairs of hexadecimal digits.
  fileprivate init?(hexadecimal text: String) {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    self.init(capacity: digits.count / 2)
    func value(_ digit: UInt8) -> UInt8? {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
      default: nil
      }
    }
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(digits[place]), let low = value(digits[place + 1]) else { return nil }
      append(high << 4 | low)
    }
  }
}
