/// The way in which a migration, or one of its steps, is executed. The raw values are part of the command line's JSON.
#if hasAttribute(nonexhaustive)
  @nonexhaustive(warn)
#endif
public enum MigrationWay: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// Nothing in the store changes, except possibly its model metadata.
  case none
  /// SQL in the store's own file, in one transaction.
  case inPlace
  /// Copying to a new file beside the store, which then replaces its content.
  case copy
  /// Impossible without help; ``MigrationPlan/blockers`` describes the obstacles.
  case impossible

  /// Ordered from the least work to the most.
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
