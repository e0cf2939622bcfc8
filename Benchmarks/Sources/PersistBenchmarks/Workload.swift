import Foundation

/// A piece of work that several contestants do in the same way.
struct Workload {
  /// A contestant's part: prepares what isn't measured, and returns the measured work, which gives a checksum.
  typealias Part = (_ setting: Setting) throws -> () throws -> UInt64

  /// Where and how much.
  struct Setting {
    /// A file of the run's own: empty, or a copy of the store that ``Workload/Start/filled`` asks for.
    let file: URL
    let rows: Int
  }

  enum Start: String {
    /// No file.
    case empty
    /// A store with all rows in it, that Persist wrote.
    case filled
  }

  let name: String
  let rows: Int
  /// How many times plain SQLite's time Persist may take.
  let target: Double?
  let start: Start
  /// Whether the work is done once before, in the same process, unmeasured.
  let isWarm: Bool
  /// Which contestants take part.
  var contestants = Contestant.allCases
  let part: @Sendable (any ContestantParts.Type) -> Part
}

/// What every contestant can do.
protocol ContestantParts {
  static func insert(_ setting: Workload.Setting) throws -> () throws -> UInt64
  static func fetch(_ setting: Workload.Setting) throws -> () throws -> UInt64
  static func read(_ setting: Workload.Setting) throws -> () throws -> UInt64
  static func update(_ setting: Workload.Setting) throws -> () throws -> UInt64
  static func delete(_ setting: Workload.Setting) throws -> () throws -> UInt64
}

extension Contestant {
  var parts: any ContestantParts.Type {
    switch self {
    case .persist: PersistParts.self
    case .sqlite: SQLiteParts.self
    case .grdb: GRDBParts.self
    }
  }
}
