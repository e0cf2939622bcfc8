package import Foundation
package import Persist

/// The shape of a store: its tables, and rows in which noise takes the place of values.
///
/// Keys, references, positions, entity numbers, versions and nulls are those of the store; values have the kind, the
/// length and the equality of those of the store. Tables of the application, search indexes, statistics and the values
/// of a history are described, but without their rows.
package enum StoreShape {
  /// A cell of a row.
  package enum Cell: Sendable, Hashable {
    /// A structural value, or short noise.
    case value(SQLValue)
    /// Noise of a long text.
    case text(count: Int, seed: UInt64)
    /// Noise of bytes; marked if a column that allows external storage has them in the row.
    case bytes(count: Int, seed: UInt64, isMarked: Bool)
    /// Noise of a large value in a file; the count is nil for a missing file.
    case file(name: String, count: Int?, seed: UInt64)
  }

  package struct Table: Sendable, Hashable {
    package let name: String
    package let sql: String
    package let columns: [String]
    /// Whether rows are part of the shape.
    package let hasRows: Bool
  }

  /// The rule by which a column's values are replaced.
  enum ColumnKind: Sendable, Hashable {
    /// Structural values: keys, numbers, positions, Booleans.
    case kept
    /// By the storage class of each value.
    case value
    case decimal
    /// Bytes that may be in a file.
    case external
    /// Texts and numbers with a fraction are replaced; integers, which are references, remain.
    case record
    /// By the storage class; bytes remain marked.
    case parked
  }

  /// Texts longer than this are represented by their length.
  static let longestText = 200
}

extension ManagedObjectModel {
  /// The limits in the rules of attributes.
  fileprivate var limits: [Double] {
    entities.flatMap { entity in
      entity.description.attributes.flatMap { attribute in
        [attribute.validation.minimum, attribute.validation.maximum].compactMap { limit -> Double? in
          switch limit {
          case .integer(let value): Double(value)
          case .double(let value): value
          case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
          case .date(let value): value.timeIntervalSinceReferenceDate
          default: nil
          }
        }
      }
    }
  }

  /// The default values that are texts.
  fileprivate var defaultTexts: [String] {
    entities.flatMap { entity in
      entity.description.attributes.compactMap { attribute in
        if case .string(let text) = attribute.defaultValue { text } else { nil }
      }
    }
  }
}

extension Noise {
  /// - Parameter models: The models whose rules and defaults decide about values.
  init(for models: [ManagedObjectModel]) {
    self.init(limits: models.flatMap(\.limits), kept: Set(models.flatMap(\.defaultTexts)))
  }
}

/// Reads the shape of a store in a file that nobody else has open.
package final class StoreShapeReader {
  private let connection: SQLiteConnection
  private let files: ExternalDataFolder
  private var noise: Noise
  private let kinds: [String: [String: StoreShape.ColumnKind]]
  private var fileNames: [String: String] = [:]

  /// All tables whose definitions are part of the shape.
  package let tables: [StoreShape.Table]
  /// The definitions of indexes, views and triggers, for after the rows.
  package let definitions: [String]

  /// - Parameters:
  ///   - model: The store's model; nil if it isn't known.
  ///   - others: Further models whose rules and defaults decide about values.
  package init(storeAt url: URL, model: ManagedObjectModel?, others: [ManagedObjectModel]) throws {
    let connection = try SQLiteConnection(url, mode: .readWrite)
    self.connection = connection
    files = ExternalDataFolder(storeAt: url)
    let schema = try StoreSchema(connection)
    let map = try model.map { try StoreCatalog(connection).tableMap(of: $0) }
    kinds = StoreShapeReader.kinds(map)
    let models = [model].compactMap { $0 } + others
    var noise = Noise(for: models)
    let texts = DefinitionNoise(models, schema)
    let ordinary = schema.tables.filter { $0.isOrdinary && !$0.columns.isEmpty }
    tables = ordinary.map { table in
      StoreShape.Table(
        name: table.name, sql: texts.definition(table.sql, &noise), columns: table.columns.map(\.name),
        hasRows: Self.hasRows(table.name, map))
    }
    let omitted = schema.tables.filter { !$0.isOrdinary && !$0.name.hasPrefix("sqlite_") }.map(\.name)
    let kept = schema.indexes.filter { index in ordinary.contains { $0.name == index.table } }.compactMap(\.sql)
      + schema.views.map(\.sql)
      + schema.triggers.map(\.sql).filter { sql in !omitted.contains { sql.contains($0) } }
    definitions = kept.map { texts.definition($0, &noise) }
    self.noise = noise
  }

  package func close() { connection.close() }

  private static let storeTables: Set<String> = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", ModelRecord.table]
  private static let historyTables: Set<String> = ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"]

  private static func hasRows(_ name: String, _ map: TableMap?) -> Bool {
    if storeTables.contains(name) || historyTables.contains(name) || ParkedSlot.Table.all.contains(name) { return true }
    guard let map else { return name.hasPrefix("Z") }
    return map.tables.contains { $0.table == name } || map.joinTables.contains { $0.name == name }
  }

  /// The kinds of the columns that aren't treated by the storage class of their values.
  private static func kinds(_ map: TableMap?) -> [String: [String: StoreShape.ColumnKind]] {
    guard let map else { return [:] }
    var kinds: [String: [String: StoreShape.ColumnKind]] = [:]
    for place in map.tables {
      for column in ["Z_PK", "Z_ENT", "Z_OPT"] + place.orderColumns.values {
        kinds[place.table, default: [:]][column] = .kept
      }
      for case .foreignKey(let key) in place.toMany.values {
        for column in [key.column, key.entityColumn, key.orderColumn].compactMap({ $0 }) {
          kinds[key.table, default: [:]][column] = .kept
        }
      }
      for column in place.columns {
        switch column.role {
        case .toOne, .toOneEntity: kinds[place.table, default: [:]][column.name] = .kept
        case .attribute(let attribute):
          if attribute.storesMarkedBytes {
            kinds[place.table, default: [:]][column.name] = .external
          } else if attribute.type == .boolean {
            kinds[place.table, default: [:]][column.name] = .kept
          } else if attribute.type == .decimal {
            kinds[place.table, default: [:]][column.name] = .decimal
          }
        }
      }
    }
    return kinds
  }

  // MARK: Rows

  package func forEachRow(of table: StoreShape.Table, _ body: ([StoreShape.Cell]) throws -> Void) throws {
    guard table.hasRows else { return }
    let kinds = table.columns.map { kind(of: $0, in: table.name) }
    try connection.query(.everything(in: table.name, table.columns)) { row in
      var cells: [StoreShape.Cell] = []
      for (index, kind) in kinds.enumerated() { cells.append(try cell(row.value(Int32(index)), kind)) }
      try body(table.name == "Z_METADATA" ? Self.withoutApplicationValues(cells, table.columns) : cells)
    }
  }

  private func kind(of column: String, in table: String) -> StoreShape.ColumnKind {
    if Self.storeTables.contains(table) { return .kept }
    if Self.historyTables.contains(table) { return column == "ZCOLUMNS" ? .kept : .record }
    if ParkedSlot.Table.all.contains(table) {
      return table == ParkedSlot.Table.values && ["VALUE", "STANDIN"].contains(column) ? .parked : .kept
    }
    if ParkedColumn.isOne(column) { return .parked }
    if kinds.isEmpty { return ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) ? .kept : .value }
    // Every column of a join table is a key or a position.
    guard let known = kinds[table] else { return .kept }
    return known[column] ?? .value
  }

  private func cell(_ value: SQLValue, _ kind: StoreShape.ColumnKind) throws -> StoreShape.Cell {
    switch (value, kind) {
    case (.null, _), (_, .kept), (.integer, .record): return .value(value)
    case (.double(let number), .decimal): return .value(.double(Double(noise.decimal("\(number)")) ?? 0))
    case (.integer(let number), .decimal): return .value(.integer(Int64(noise.decimal("\(number)")) ?? 0))
    case (.blob(let bytes), .decimal):
      return .value(.blob(Data(noise.decimal(String(decoding: bytes, as: UTF8.self)).utf8)))
    case (.integer(let number), _): return .value(.integer(noise.integer(number)))
    case (.double(let number), _): return .value(.double(noise.double(number)))
    case (.text(let text), _):
      guard text.utf8.count <= StoreShape.longestText else {
        return .text(count: text.utf16.count, seed: noise.seed(text.utf8))
      }
      return .value(.text(noise.text(text)))
    case (.blob(let bytes), .external): return try external(bytes)
    case (.blob(let bytes), .parked) where bytes.first == 1:
      return .bytes(count: bytes.count - 1, seed: noise.seedOfBytes(Data(bytes.dropFirst())), isMarked: true)
    case (.blob(let bytes), _):
      return .bytes(count: bytes.count, seed: noise.seedOfBytes(bytes), isMarked: false)
    }
  }

  /// A value of an attribute that allows external storage begins with a mark: 1 for bytes in the row, 2 for the name of
  /// a file, which ends with a zero byte.
  private func external(_ bytes: Data) throws -> StoreShape.Cell {
    let content = bytes.dropFirst()
    guard bytes.first == 2 else {
      return .bytes(count: content.count, seed: noise.seedOfBytes(Data(content)), isMarked: true)
    }
    let name = String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
    let noiseName = fileNames[name] ?? UUID().uuidString
    fileNames[name] = noiseName
    guard let file = try? files.file(named: name), let data = try? Data(contentsOf: file, options: .alwaysMapped) else {
      return .file(name: noiseName, count: nil, seed: 0)
    }
    return .file(name: noiseName, count: data.count, seed: noise.seed(data))
  }

  /// Metadata with another identifier and without the application's own values.
  private static func withoutApplicationValues(
    _ cells: [StoreShape.Cell], _ columns: [String]
  ) throws -> [StoreShape.Cell] {
    var cells = cells
    for (index, column) in columns.enumerated() {
      switch (column.uppercased(), cells[index]) {
      case ("Z_UUID", .value(.text)): cells[index] = .value(.text(UUID().uuidString))
      case ("Z_PLIST", .value(.blob(let bytes))):
        let values = try PropertyList(data: bytes).dictionaryValue ?? [:]
        let own = values.filter {
          StoreMetadata.Key.own.contains($0.key)
            && ![StoreMetadata.Key.migrationLog, StoreMetadata.Key.storeIdentifier].contains($0.key)
        }
        cells[index] = .value(.blob(try PropertyList.dictionary(own).binaryData()))
      default: continue
      }
    }
    return cells
  }
}
