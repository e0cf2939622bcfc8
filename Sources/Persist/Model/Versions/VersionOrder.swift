/// The order in which a family's versions were created, as far as there is evidence of it.
///
/// Files don't contain their age. The order is determined by numeric version identifiers if all versions have distinct
/// ones, otherwise by names that form a series, and by the steps of mapping models; versions that none of these relates
/// are unordered. The order is evidence, never authority: it shows where to look for renamings and mapping models, not
/// whether a store may be migrated.
struct VersionOrder: Sendable {
  /// The basis of the order.
  enum Evidence: Sendable, Equatable {
    /// The order that the family was created with in code.
    case given
    case identifiers
    case names
  }

  let evidence: Evidence
  private let places: [Place]
  /// For each version, all versions that mapping models lead to, directly or indirectly.
  private let successors: [Set<Int>]
  /// The number of versions that follow those with places and are newer than all of them.
  private var newestCount = 0

  /// Creates the order of versions that are already in order.
  init(given count: Int) {
    evidence = .given
    places = (0..<count).map { Place(series: "", numbers: [VersionNumber($0)]) }
    successors = []
  }

  /// - Parameters:
  ///   - names: the versions' names.
  ///   - identifiers: the version identifiers of each.
  ///   - family: the family's name; the version with this name is its first.
  ///   - steps: the source and destination versions of mapping models, as indexes.
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

  /// Returns the order with versions at the end, in order, that are newer than all others.
  func adding(newest count: Int) -> VersionOrder {
    var order = self
    order.newestCount += count
    return order
  }

  /// Whether one version was created before another; nil if there is no evidence.
  @inline(never)
  func precedes(_ first: Int, _ second: Int) -> Bool? {
    guard first != second else { return false }
    guard max(first, second) < places.count else { return first < second }
    if !successors.isEmpty {
      switch (successors[first].contains(second), successors[second].contains(first)) {
      case (true, false): return true
      case (false, true): return false
      default: break
      }
    }
    return places[first].precedes(places[second])
  }

  /// Returns the versions between two, in the direction from the first to the second; none if their order isn't known.
  func between(_ first: Int, _ second: Int) -> [Int] {
    guard let isForward = precedes(first, second) else { return [] }
    let (lower, upper) = isForward ? (first, second) : (second, first)
    var rest = (0..<places.count + newestCount).filter { precedes(lower, $0) == true && precedes($0, upper) == true }
    // No sort: where only a third version relates two, comparing these two says nothing.
    var between: [Int] = []
    while !rest.isEmpty {
      let first = rest.indices.first { place in !rest.contains { precedes($0, rest[place]) == true } }
      between.append(rest.remove(at: first ?? 0))
    }
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

  /// The position of a version in a series.
  private struct Place: Sendable {
    let series: String
    let numbers: [VersionNumber]
    /// Whether the version is named like its family, as Xcode names the first.
    var isFirst = false

    init(series: String, numbers: [VersionNumber]) {
      self.series = series
      self.numbers = numbers
    }

    /// `V22` and `V 23` belong to the same series, `Draft` and `Final` don't.
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
