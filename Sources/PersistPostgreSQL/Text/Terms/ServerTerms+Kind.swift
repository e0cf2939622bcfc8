import Foundation
import Persist

extension ServerTerms {
  /// The type of a column or a term in PostgreSQL, with everything that depends on it.
  ///
  /// | kind | SQL | in terms | values in binary |
  /// |---|---|---|---|
  /// | `integer` | `bigint` | `integer` | 8 bytes |
  /// | `int32` | `integer` | `integer`, since the server compares integers of all widths | 4 bytes |
  /// | `int16` | `smallint` | `integer` | 2 bytes |
  /// | `boolean` | `boolean` | `boolean`; beside numbers, 1 or 0 | 1 byte |
  /// | `double` | `double precision`, and the domain of dates | `double` | 8 bytes |
  /// | `decimal` | `numeric` | `decimal` | text, which the server converts |
  /// | `text` | `text` | `text` | UTF-8 |
  /// | `bytes` | `bytea` | `bytes` | the bytes |
  /// | `uuid` | `uuid` | `uuid` | 16 bytes |
  /// | `moment` | `timestamp with time zone` | `double`, seconds since 2001 | 8 bytes, microseconds since 2000 |
  enum Kind: Hashable, CaseIterable {
    case integer, int32, int16, boolean, double, decimal, text, bytes, uuid, moment
  }
}

extension ServerTerms.Kind {
  // MARK: Columns

  init(_ type: TableMap.ColumnType) {
    self =
      switch type {
      case .integer: .integer
      case .int32: .int32
      case .int16: .int16
      case .boolean: .boolean
      case .float, .timestamp: .double
      case .decimal: .decimal
      case .varchar: .text
      case .blob: .bytes
      case .uuid: .uuid
      case .moment: .moment
      }
  }

  /// The kind of a column by the type that the server names; bytes for others.
  init(typeName: String) {
    self.init(declaredType: ServerText.declaredType(typeName))
  }

  /// The kind of a column by its type in a ``StoreSchema``; bytes for types that no store has.
  init(declaredType: String) {
    self =
      switch declaredType {
      case "real": .double
      case "character varying": .text
      default: TableMap.ColumnType(rawValue: declaredType).map(Self.init) ?? .bytes
      }
  }

  /// The name of the type in SQL.
  var typeName: ServerText {
    switch self {
    case .integer: "bigint"
    case .int32: "integer"
    case .int16: "smallint"
    case .boolean: "boolean"
    case .double: "float8"
    case .decimal: "numeric"
    case .text: "text"
    case .bytes: "bytea"
    case .uuid: "uuid"
    case .moment: "timestamptz"
    }
  }

  /// The kind of a term that is a column of this kind.
  var ofTerms: ServerTerms.Kind { isWhole ? .integer : self == .moment ? .double : self }

  /// A column of this kind as a term.
  func term(_ column: ServerText) -> ServerText { self == .moment ? text(term: column, as: .double) : column }

  var isWhole: Bool { [.integer, .int32, .int16].contains(self) }

  /// Whether the server has `min` and `max` for values of the kind, or of the numbers for which they stand.
  var hasExtremes: Bool { ![.bytes, .uuid].contains(self) }

  // MARK: Parameters

  /// The type of a parameter with the values of many rows, and that of each value.
  var parameters: (array: ServerParameter.ValueType, element: ServerParameter.ValueType) {
    switch self {
    case .integer: (.integers, .integer)
    case .int32: (.int32s, .int32)
    case .int16: (.int16s, .int16)
    case .boolean: (.booleans, .boolean)
    case .double: (.doubles, .double)
    case .text, .decimal: (.texts, .text)
    case .bytes: (.byteStrings, .bytes)
    case .uuid: (.uuids, .uuid)
    case .moment: (.moments, .moment)
    }
  }

  // MARK: Conversions

  /// The value of a column as one of another kind, which has an equal one for it; null for bytes that are no UUID.
  func text(of column: String, as kind: ServerTerms.Kind) -> ServerText { text(term: "\(name: column)", as: kind) }

  private func text(term: ServerText, from kind: ServerTerms.Kind) -> ServerText { kind.text(term: term, as: self) }

  func text(term: ServerText, as kind: ServerTerms.Kind) -> ServerText {
    switch (self, kind) {
    case _ where self == kind: term
    case (.boolean, .text): "\(term)::int::text"
    case (.boolean, _): "\(term)::int::\(kind.typeName)"
    case (_, .boolean) where isWhole: "(\(term) <> 0)"
    case (.moment, .double): "(EXTRACT(EPOCH FROM \(term)) - 978307200)::float8"
    case (_, .moment): "(TIMESTAMPTZ '2001-01-01 00:00:00+00' + (\(term))::float8 * INTERVAL '1 second')"
    case (.moment, _): "((EXTRACT(EPOCH FROM \(term)) - 978307200)::float8)::\(kind.typeName)"
    case (.bytes, .uuid): "CASE WHEN octet_length(\(term)) = 16 THEN encode(\(term), 'hex')::uuid END"
    case (.uuid, .bytes): "uuid_send(\(term))"
    default: "\(term)::\(kind.typeName)"
    }
  }

  /// A constant as a literal, for definitions, which accept no parameters.
  func literal(_ value: SQLValue) -> ServerText {
    switch (self, value) {
    case (_, .null): "NULL"
    case (.boolean, .integer(let number)): number == 0 ? "FALSE" : "TRUE"
    case (.moment, .integer(let number)): text(term: "\(literal: "\(number)")::float8", from: .double)
    case (.moment, .double(let number)): text(term: "\(literal: "\(number)")::float8", from: .double)
    case (.uuid, .blob(let data)): data.count == 16 ? "\(literal: data.hexadecimalDigits)::uuid" : "NULL"
    case (.decimal, .blob(let data)): "\(literal: String(decoding: data, as: UTF8.self))::numeric"
    case (_, .integer(let number)): "\(literal: "\(number)")::\(typeName)"
    case (_, .double(let number)): "\(literal: "\(number)")::\(typeName)"
    case (_, .text(let text)): "\(literal: text)::\(typeName)"
    case (_, .blob(let data)): "decode(\(literal: data.hexadecimalDigits), 'hex')"
    }
  }

  /// The bytes with which the history keeps the value of a column: see ``ServerHistoryConnection``.
  func kept(_ column: String) -> ServerText { kept(term: "\(name: column)") }

  /// - Parameter term: The column of a row that a trigger knows.
  func kept(term: ServerText) -> ServerText {
    switch self {
    case .integer, .int32, .int16, .boolean: "'\\x01'::bytea || int8send(\(text(term: term, as: .integer)))"
    case .double: "'\\x02'::bytea || float8send(\(term))"
    case .moment: "'\\x02'::bytea || float8send(\(text(term: term, as: .double)))"
    case .text: "'\\x03'::bytea || convert_to(\(term), 'UTF8')"
    case .decimal: "'\\x03'::bytea || convert_to(\(term)::text, 'UTF8')"
    case .bytes, .uuid: "'\\x04'::bytea || \(text(term: term, as: .bytes))"
    }
  }
}

extension TableMap {
  /// The types of all columns on a PostgreSQL server, by table and name.
  var serverKinds: [String: [String: ServerTerms.Kind]] {
    var kinds: [String: [String: ServerTerms.Kind]] = [:]
    // Some tables have no other columns.
    for entity in model.entities where entity.root === entity {
      kinds[self[entity].table] = ["Z_PK": .integer, "Z_ENT": .integer, "Z_OPT": .integer]
    }
    for (table, columns) in layout {
      for column in columns { kinds[table, default: [:]][column.name] = ServerTerms.Kind(column.type) }
    }
    for join in joinTables {
      let orders = [join.first.orderColumn, join.second.orderColumn].compactMap { $0 }
      let names = [join.first.column, join.second.column] + orders
      kinds[join.name] = Dictionary(names.map { ($0, .integer) }, uniquingKeysWith: { first, _ in first })
    }
    return kinds
  }
}
