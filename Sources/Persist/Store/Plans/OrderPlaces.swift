/// The positions of members of an ordered relationship: integers with gaps, as Core Data assigns them.
package enum OrderPlaces {
  /// The position of the first member, and the distance to the next.
  package static let first: Int64 = 2048
  package static let distance: Int64 = 1024

  /// Returns the members of an owner in the order that they get from a save.
  ///
  /// - Parameters:
  ///   - members: The keys in the order of a context; those that aren't stored as members are left out.
  ///   - isWhole: Whether these are all members that the context knows, among which those that others have added keep
  ///     their positions in the list; otherwise they are moved to the end.
  ///   - places: The stored members with their positions; nil for those without one, which only get one if they are
  ///     among `members`.
  /// - Complexity: O(*n* log *n*) if there are others, otherwise O(*n*)
  package static func order(_ members: [Int64], isWhole: Bool, among places: [Int64: Int64?]) -> [Int64] {
    let present = members.filter { places[$0] != nil }
    guard present.count < places.count else { return present }
    let given = Set(present)
    let stored = places.filter { $0.value != nil || given.contains($0.key) }
      .sorted { ($0.value ?? .max, $0.key) < ($1.value ?? .max, $1.key) }.map(\.key)
    return isWhole ? arranged(present, among: stored) : stored.filter { !given.contains($0) } + present
  }

  /// Returns all members, with the known ones in their new order at the positions that these have in the list.
  ///
  /// - Parameter known: Some of the members, each once.
  static func arranged<Member: Hashable>(_ known: some Sequence<Member>, among all: some Sequence<Member>) -> [Member] {
    let places = Set(known)
    var next = known.makeIterator()
    return all.compactMap { places.contains($0) ? next.next() : $0 }
  }

  /// The smallest set of positions to write for a new order of the members.
  ///
  /// The longest run of members with ascending positions remains; the others are placed between them. If a gap is too
  /// small, all members are renumbered.
  ///
  /// - Parameters:
  ///   - members: The keys in the new order.
  ///   - places: Their current positions.
  /// - Complexity: O(*n* log *n*)
  package static func changes(_ members: [Int64], from places: [Int64: Int64]) -> [(member: Int64, place: Int64)] {
    let current = members.map { places[$0] }
    let kept = longestRise(current)
    var changes: [(member: Int64, place: Int64)] = []
    var index = 0
    var below: Int64?
    while index < members.count {
      if kept.contains(index) {
        below = current[index]
        index += 1
        continue
      }
      let start = index
      while index < members.count, !kept.contains(index) { index += 1 }
      let above = index < members.count ? current[index] : nil
      guard let free = freePlaces(index - start, between: below, and: above) else {
        return renumbered(members, current)
      }
      for (member, place) in zip(members[start..<index], free) { changes.append((member, place)) }
    }
    return changes
  }

  private static func renumbered(
    _ members: [Int64], _ current: [Int64?]
  ) -> [(member: Int64, place: Int64)] {
    zip(members, current).enumerated().compactMap { index, pair in
      let place = first + Int64(index) * distance
      return pair.1 == place ? nil : (pair.0, place)
    }
  }

  /// Positions for a number of members between two others; nil if the gap is too small.
  private static func freePlaces(_ count: Int, between below: Int64?, and above: Int64?) -> [Int64]? {
    let wanted = Int64(count)
    guard let above else {
      let start = below ?? first - distance
      guard start < Int64.max - (wanted + 1) * distance else { return nil }
      return (1...wanted).map { start + $0 * distance }
    }
    let low = below ?? 0
    let (room, overflow) = above.subtractingReportingOverflow(low)
    guard !overflow, room > wanted else { return nil }
    let step = room / (wanted + 1)
    return (1...wanted).map { low + $0 * step }
  }

  /// The indexes of a longest strictly ascending run, excluding members without a position.
  private static func longestRise(_ places: [Int64?]) -> Set<Int> {
    // ends[n] is the index of the least position that ends a run of n + 1 members.
    var ends: [Int] = []
    var previous: [Int?] = Array(repeating: nil, count: places.count)
    func place(_ index: Int) -> Int64 { places[index] ?? 0 }
    for index in places.indices {
      // Positions from 1 upward have room before them.
      guard let current = places[index], current > 0 else { continue }
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if place(ends[middle]) < current { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var kept = Set<Int>()
    var next = ends.last
    while let index = next {
      kept.insert(index)
      next = previous[index]
    }
    return kept
  }
}
