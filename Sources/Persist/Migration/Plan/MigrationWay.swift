/// How a migration, or one of its steps, is carried out. The raw values stand in the command line's JSON.
public enum MigrationWay: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// Nothing in the store changes, at most what it says of its model.
  case none
  /// SQL in the store's own file, in one transaction.
  case inPlace
  /// Into a new file beside the store, which then takes its place.
  case copy
  /// Not without help; ``MigrationPlan/blockers`` say what is missing.
  case impossible

  /// From the least work to the most.
  public static func < (left: MigrationWay, right: MigrationWay) -> Bool { left.weight < right.weight }

  private var weight: Int {
    switch self {
    case .none: 0
    case .inPlace: 1
    case .copy: 2
    case .impossible: 3
    }
  }
}
