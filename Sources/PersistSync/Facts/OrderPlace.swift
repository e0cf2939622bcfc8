import Foundation

/// The positions of members in ordered relationships: fractions between 0 and 1 as bytes, so that there is always one
/// between two others, and moving a member changes only its own.
enum OrderPlace {
  /// Returns a position between two others.
  ///
  /// - Parameters:
  ///   - low: A position; nil for the beginning.
  ///   - high: A greater position; nil for the end.
  static func between(_ low: Data?, _ high: Data?) -> Data {
    let (low, high) = (Array(low ?? Data()), high.map(Array.init))
    var place: [UInt8] = []
    var isBounded = high != nil
    var index = 0
    while true {
      let first = index < low.count ? Int(low[index]) : 0
      let last = isBounded ? (high.map { index < $0.count ? Int($0[index]) : 256 } ?? 256) : 256
      if last - first > 1 {
        // Room is left for positions at the end, where most members are added.
        let step = isBounded ? (last - first) / 2 : min(8, (last - first) / 2)
        place.append(UInt8(first + max(1, step)))
        return Data(place)
      }
      place.append(UInt8(min(first, 255)))
      if last > first { isBounded = false }
      index += 1
    }
  }

  /// Returns new positions for as few members as possible, so that all are in order.
  ///
  /// - Parameter places: The present positions, in the order of the members; nil for members without one.
  /// - Returns: The members to change, by index, with their positions.
  static func changes(of places: [Data?]) -> [(Int, Data)] {
    let kept = longestRise(places)
    guard kept.count < places.count else { return [] }
    var changes: [(Int, Data)] = []
    var last: Data?
    var next = 0
    for index in places.indices {
      if next < kept.count, kept[next] == index {
        last = places[index]
        next += 1
      } else {
        let place = between(last, next < kept.count ? places[kept[next]] : nil)
        changes.append((index, place))
        last = place
      }
    }
    return changes
  }

  /// The indexes of the longest list of members whose positions rise.
  private static func longestRise(_ places: [Data?]) -> [Int] {
    var ends: [Int] = []
    var previous: [Int: Int] = [:]
    for (index, place) in places.enumerated() {
      guard let place, !place.isEmpty else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if let other = places[ends[middle]], other.precedes(place) { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = ends[low - 1] }
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var rise: [Int] = []
    var next = ends.last
    while let index = next {
      rise.append(index)
      next = previous[index]
    }
    return rise.reversed()
  }
}
