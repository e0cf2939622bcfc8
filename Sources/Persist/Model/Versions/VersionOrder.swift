/// The order in which a family's versions were made, as far as there is evidence of it.
///
/// Files don't say their age. The order is taken from numeric version identifiers where all versions have distinct
/// ones,
/// else from names that are one series, and from the steps of mapping models; versions that none of these relates have
/// no order. It is evidence, never authority: it says where to look for renamings and mapping models, not whether a
/// store may be migrated.
struct VersionOrder: Sendable {
  /// What the order rests on.
  enum Evidence: Sendable, Hashable {
    /// Whoever made the family in code said it.
    case given
    case identifiers
    case names
  }

  let evidence: Evidence
  private let places: [Place]
  /// By each version, those that mapping models lead to from it, on whatever way.
  private let successors: [Set<Int>]

  /// Versions whose order is known already.
  init(given count: Int) {
    evidence = .given
    places = (0..<count).map { Place(series: "", numbers: [VersionNumber($0)]) }
    successors = []
  }

  /// - Parameters:
  ///   - names: the versions' names.
  ///   - identifiers: the version identifiers of each.
  ///   - family: the name of the family; the version of this name is its first.
  ///   - steps: from and to which versions mapping models lead, by their indexes.
  init(names: [String], identifiers: [[String]], family: String, steps: [(from: Int, to: Int)] = []) {
    let numbers = identifiers.compactMap { VersionNumber($0) }
    if numbers.count == names.count, Set(numbers).count == names.count {
      evidence = .identifiers
      places = numbers.map { Place(series: "", numbers: [$0]) }
    } else {
      evidence = .names
      places = names.map { Place(name: $0, family: family) }
    }
    successors = Self.closure(of: steps, count: names.count)
  }

  /// Whether one version was made before another; nil where nothing tells.
  func precedes(_ first: Int, _ second: Int) -> Bool? {
    guard first != second else { return false }
    if !successors.isEmpty {
      switch (successors[first].contains(second), successors[second].contains(first)) {
      case (true, false): return true
      case (false, true): return false
      default: break
      }
    }
    return places[first].precedes(places[second])
  }

  /// The versions between two, in the direction from the first to the second; none where their order isn't known.
  func between(_ first: Int, _ second: Int) -> [Int] {
    guard let isForward = precedes(first, second) else { return [] }
    let (lower, upper) = isForward ? (first, second) : (second, first)
    let between = places.indices.filter { precedes(lower, $0) == true && precedes($0, upper) == true }
      .sorted { precedes($0, $1) == true }
    return isForward ? between : between.reversed()
  }

  private static func closure(of steps: [(from: Int, to: Int)], count: Int) -> [Set<Int>] {
    guard !steps.isEmpty else { return [] }
    let direct = Dictionary(grouping: steps, by: \.from).mapValues { $0.map(\.to) }
    return (0..<count).map { start in
      var reached: Set<Int> = []
      var open = direct[start] ?? []
      while let next = open.popLast() {
        if reached.insert(next).inserted { open += direct[next] ?? [] }
      }
      return reached
    }
  }

  /// Where a version is in a series.
  private struct Place: Sendable {
    let series: String
    let numbers: [VersionNumber]
    /// Whether the version is named like its family, which makes it the first, as Xcode names it.
    var isFirst = false

    init(series: String, numbers: [VersionNumber]) {
      self.series = series
      self.numbers = numbers
    }

    /// `V22` and `V 23` are of one series, `Draft` and `Final` aren't.
    init(name: String, family: String) {
      let number = NaturalOrder.number(atEndOf: name)
      self.init(series: number.series, numbers: number.parts.compactMap { VersionNumber([$0]) })
      isFirst = name == family
    }

    func precedes(_ other: Place) -> Bool? {
      if isFirst != other.isFirst { return isFirst }
      guard series == other.series else { return nil }
      if numbers.lexicographicallyPrecedes(other.numbers) { return true }
      return other.numbers.lexicographicallyPrecedes(numbers) ? false : nil
    }
  }
}
