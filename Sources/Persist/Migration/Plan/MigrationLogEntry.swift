public import Foundation

/// A migration that ran, as the store remembers it.
///
/// ```swift
/// for entry in try PersistentStoreCoordinator.metadata(at: url).migrationLog { print(entry) }
/// // 2026-11-21T18:04:05Z  Shop 1 → Shop 3, in place, 280 rows, 0.012 s
/// ```
public struct MigrationLogEntry: Sendable, Hashable {
  /// When it ended.
  public var date: Date
  /// The versions that it led from and to.
  public var from: String
  public var to: String
  public var way: MigrationWay
  /// How many rows the store had; nil where there were too many to count them for the log's sake.
  public var rows: Int?
  public var seconds: Double

  public init(date: Date, from: String, to: String, way: MigrationWay, rows: Int?, seconds: Double) {
    self.date = date
    self.from = from
    self.to = to
    self.way = way
    self.rows = rows
    self.seconds = seconds
  }

  /// Up to how many rows a migration counts though nobody asked for it: that takes a few milliseconds.
  static let countedRows: Int64 = 100_000
}

extension MigrationLogEntry {
  init(_ report: MigrationReport, rows: Int?) {
    self.init(
      date: Date(), from: report.from, to: report.to, way: report.way, rows: report.rows ?? rows,
      seconds: report.duration / .seconds(1))
  }

  private enum Key {
    static let date = "date"
    static let from = "from"
    static let to = "to"
    static let way = "way"
    static let rows = "rows"
    static let seconds = "seconds"
  }

  /// Nil for something that no version of Persist wrote.
  init?(_ list: PropertyList) {
    guard let values = list.dictionaryValue, case .date(let date)? = values[Key.date],
      let from = values[Key.from]?.stringValue, let to = values[Key.to]?.stringValue,
      let way = values[Key.way]?.stringValue.flatMap(MigrationWay.init(rawValue:)),
      case .real(let seconds)? = values[Key.seconds]
    else { return nil }
    self.init(
      date: date, from: from, to: to, way: way, rows: values[Key.rows]?.integerValue.map { Int(clamping: $0) },
      seconds: seconds)
  }

  var propertyList: PropertyList {
    var values: [String: PropertyList] = [
      Key.date: .date(date), Key.from: .string(from), Key.to: .string(to), Key.way: .string(way.rawValue),
      Key.seconds: .real(seconds),
    ]
    values[Key.rows] = rows.map { .integer(Int64($0)) }
    return .dictionary(values)
  }
}

extension MigrationLogEntry: CustomStringConvertible {
  public var description: String {
    let way = switch way {
    case .none: "nothing to do"
    case .inPlace: "in place"
    case .copy: "into a new file"
    case .impossible: "not possible"
    }
    let rows = rows.map { ", \($0) \($0 == 1 ? "row" : "rows")" } ?? ""
    return "\(date.ISO8601Format())  \(from) → \(to), \(way)\(rows), \(String(format: "%.3f", seconds)) s"
  }
}

extension StoreMetadata {
  /// The migrations that the store has been through, oldest first; of many, the latest ones.
  ///
  /// They stand under a key of Persist's own, as property-list values, which Core Data keeps and doesn't look at.
  public var migrationLog: [MigrationLogEntry] {
    (values[Key.migrationLog]?.arrayValue ?? []).compactMap(MigrationLogEntry.init)
  }

  /// How many migrations are remembered.
  static let migrationLogLimit = 100

  mutating func log(_ entry: MigrationLogEntry) {
    let entries = (values[Key.migrationLog]?.arrayValue ?? []) + [entry.propertyList]
    values[Key.migrationLog] = .array(entries.suffix(Self.migrationLogLimit))
  }
}

extension MigrationLogEntry {
  /// Notes in a store's file how it came about.
  ///
  /// - Parameter endingLog: whether to take the write-ahead log into the file, so that the file alone is the store.
  func write(toStoreAt url: URL, endingLog: Bool = false) throws {
    let connection = try SQLiteConnection(url, mode: .readWrite)
    defer { connection.close() }
    try connection.transaction {
      var metadata = try StoreMetadata(connection)
      metadata.log(self)
      try metadata.write(to: connection)
    }
    if endingLog { try connection.execute(.journalModeDelete) }
  }
}
