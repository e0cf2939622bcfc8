public import Foundation

/// A completed migration, as recorded in the store.
///
/// ```swift
/// for entry in try PersistentStoreCoordinator.metadata(at: url).migrationLog { print(entry) }
/// // 2026-11-21T18:04:05Z  Shop 1 → Shop 3, in place, 280 rows, 0.012 s
/// ```
public struct MigrationLogEntry: Sendable, Hashable {
  /// The time at which it ended.
  public var date: Date
  /// The source and destination versions.
  public var from: String
  /// The destination version's name, which the store had afterward.
  public var to: String
  /// The way in which the store was migrated: in place or by copying.
  public var way: MigrationWay
  /// The number of rows in the store; nil if there were too many to count them only for the log.
  public var rows: Int?
  /// The duration in seconds.
  public var seconds: Double

  /// Creates an entry for a migration that ended at a date. Creating it doesn't record it in a store.
  init(date: Date, from: String, to: String, way: MigrationWay, rows: Int?, seconds: Double) {
    self.date = date
    self.from = from
    self.to = to
    self.way = way
    self.rows = rows
    self.seconds = seconds
  }

  /// The maximum number of rows that a migration counts without being asked to: that takes a few milliseconds.
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

  /// Nil for a value that no version of Persist wrote.
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
    let rows = rows.map { ", " + Measure.count($0, "row") } ?? ""
    return "\(ValueWords.date(date))  \(from) → \(to), \(way)\(rows), \(String(format: "%.3f", seconds)) s"
  }
}

extension StoreMetadata {
  /// The store's migrations, oldest first. If there were many, only the latest ones.
  ///
  /// They are stored under a Persist-specific key as property-list values, which Core Data preserves and ignores.
  public var migrationLog: [MigrationLogEntry] {
    (values[Key.migrationLog]?.arrayValue ?? []).compactMap(MigrationLogEntry.init)
  }

  /// The maximum number of recorded migrations.
  static let migrationLogLimit = 100

  mutating func log(_ entry: MigrationLogEntry) {
    let entries = (values[Key.migrationLog]?.arrayValue ?? []) + [entry.propertyList]
    values[Key.migrationLog] = .array(entries.suffix(Self.migrationLogLimit))
  }
}
