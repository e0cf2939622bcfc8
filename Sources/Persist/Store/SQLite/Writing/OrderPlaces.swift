/// Where the members of an ordered relationship stand: whole numbers with room between them, as Core Data gives them.
enum OrderPlaces {
  /// The place of the first member, and the distance to the next.
  static let first: Int64 = 2048
  static let distance: Int64 = 1024

  /// The fewest places to write so that the members stand in a new order.
  ///
  /// The longest run of members whose places rise already stays; the others go between them. Where there is no room
  /// left between two, all get new places.
  ///
  /// - Parameters:
  ///   - members: keys in the new order.
  ///   - places: what they have now.
  /// - Complexity: O(*n* log *n*)
  static func changes(_ members: [Int64], from places: [Int64: Int64]) -> [(member: Int64, place: Int64)] {
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

  /// Places for some members between two others; nil where there is no room.
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

  /// Indexes of a longest strictly rising run, members without a place left out.
  private static func longestRise(_ places: [Int64?]) -> Set<Int> {
    // ends[n] is the index of the least place that ends a run of n + 1 members.
    var ends: [Int] = []
    var previous: [Int?] = Array(repeating: nil, count: places.count)
    func place(_ index: Int) -> Int64 { places[index] ?? 0 }
    for index in places.indices {
      // Places from 1 up have room before them.
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
