/// A many-to-many relationship under construction: the joined objects, and the number of related objects of each.
struct ManyToManyDraft {
  private struct Join: Hashable {
    let near: Int
    let far: Int
  }

  let pair: RelationshipPair
  private(set) var joins: [(near: Int, far: Int)] = []
  private(set) var nearCounts: [Int]
  private(set) var farCounts: [Int]
  private var made: Set<Join> = []

  init(pair: RelationshipPair, nearCount: Int, farCount: Int) {
    self.pair = pair
    nearCounts = Array(repeating: 0, count: nearCount)
    farCounts = Array(repeating: 0, count: farCount)
  }

  /// Joins two objects unless they are already joined or one of them has reached its maximum.
  mutating func join(_ near: Int, _ far: Int) {
    guard nearCounts[near] < pair.near.maximum, farCounts[far] < pair.far.maximum else { return }
    if pair.isOwnInverse {
      guard near != far, made.insert(Join(near: min(near, far), far: max(near, far))).inserted else { return }
      // Both sides consist of the same objects, so each counts on both.
      for object in [near, far] {
        nearCounts[object] += 1
        farCounts[object] += 1
      }
    } else {
      guard made.insert(Join(near: near, far: far)).inserted else { return }
      nearCounts[near] += 1
      farCounts[far] += 1
    }
    joins.append((near, far))
  }

  /// Joins a near object to candidates until it has `count`, or until there are no more.
  mutating func reach(_ count: Int, near: Int, candidates: [Int], startingAt start: Int) {
    var offset = 0
    while nearCounts[near] < count, offset < candidates.count {
      join(near, candidates[(start + offset) % candidates.count])
      offset += 1
    }
  }

  /// Joins a far object to candidates until it has `count`, or until there are no more.
  mutating func reach(_ count: Int, far: Int, candidates: [Int], startingAt start: Int) {
    var offset = 0
    while farCounts[far] < count, offset < candidates.count {
      join(candidates[(start + offset) % candidates.count], far)
      offset += 1
    }
  }
}
