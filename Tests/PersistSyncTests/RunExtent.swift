import PersistTestSupport

/// The extent of a random run of replicas.
///
/// Most faults show with few replicas, versions and steps, and far more of such runs fit into the same time. Every
/// sixteenth run is as large as its law allows.
enum RunExtent {
  case small, medium, large

  init(_ random: inout SeededRandom) {
    self =
      switch Int.random(in: 0..<16, using: &random) {
      case 0: .large
      case 1...3: .medium
      default: .small
      }
  }

  /// A random number of steps.
  ///
  /// - Parameter maximum: The number of steps of a large run.
  func steps(upTo maximum: Int, _ random: inout SeededRandom) -> Int {
    switch self {
    case .small: Int.random(in: maximum / 8...maximum / 4, using: &random)
    case .medium: Int.random(in: maximum / 4...maximum / 2, using: &random)
    case .large: maximum
    }
  }

  /// A random number of replicas or versions: mostly two in small runs.
  ///
  /// - Parameter maximum: The greatest number in a large run.
  func parts(upTo maximum: Int, _ random: inout SeededRandom) -> Int {
    switch self {
    case .small: Int.random(in: 0..<3, using: &random) == 0 ? 3 : 2
    case .medium: Int.random(in: 2...3, using: &random)
    case .large: Int.random(in: 2...maximum, using: &random)
    }
  }
}
