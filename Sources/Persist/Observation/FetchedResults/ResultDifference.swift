/// The difference between two arrangements of results, which a controller reports.
///
/// Only candidates are examined; all others keep their relative order. As in Core Data, an object counts as moved
/// if one of its sort values changed; of the others with a new position, as few as possible count as moved.
struct ResultDifference {
  /// An object that was or is a result, with its old and new positions.
  package struct Change {
    enum Kind { case delete, insert, move, update }

    let kind: Kind
    let object: ManagedObject
    let before: ResultIndexPath?
    let after: ResultIndexPath?
  }

  private(set) var sectionDeletions: [(name: String, index: Int)] = []
  private(set) var sectionInsertions: [(name: String, index: Int)] = []
  private(set) var changes: [Change] = []

  /// Whether the results have other places or sections, or are others: not only other values.
  var isRearrangement: Bool {
    !sectionDeletions.isEmpty || !sectionInsertions.isEmpty || changes.contains { $0.kind != .update }
  }

  /// - Parameters:
  ///   - candidates: Every object that was added, removed or may have moved.
  ///   - updated: The objects that are reported as updated if they kept their positions.
  init(
    from old: ResultArrangement, to new: ResultArrangement, examining candidates: Set<ManagedObject>,
    updated: Set<ManagedObject>
  ) {
    let kept = compareSections(old, new)
    var objects = candidates
    for section in new.sections where !kept.contains(section.name) {
      for item in section.items where old.item(of: item.object) != nil { objects.insert(item.object) }
    }
    var survivors: [Survivor] = []
    var (left, came): ([Change], [Change]) = ([], [])
    for object in objects {
      let before = old.item(of: object).flatMap(old.path)
      let after = new.item(of: object).flatMap(new.path)
      switch (before, after) {
      case (let before?, let after?): survivors.append(Survivor(object: object, before: before, after: after))
      case (let before?, nil): left.append(Change(kind: .delete, object: object, before: before, after: nil))
      case (nil, let after?): came.append(Change(kind: .insert, object: object, before: nil, after: after))
      case (nil, nil): break
      }
    }
    let staying = Self.staying(
      survivors, inSections: kept, from: old, to: new,
      changedBefore: left.compactMap(\.before) + survivors.map(\.before),
      changedAfter: came.compactMap(\.after) + survivors.map(\.after))
    var (moves, updates): ([Change], [Change]) = ([], [])
    for survivor in survivors {
      let stays = staying.contains(survivor.object) && survivor.isSortedAlike(old, new)
      if stays, !updated.contains(survivor.object) { continue }
      let change = Change(
        kind: stays ? .update : .move, object: survivor.object, before: survivor.before, after: survivor.after)
      if stays { updates.append(change) } else { moves.append(change) }
    }
    changes =
      left.ordered { Self.isBefore($0.before, $1.before) } + came.ordered { Self.isBefore($0.after, $1.after) }
      + moves.ordered { Self.isBefore($0.after, $1.after) } + updates.ordered { Self.isBefore($0.before, $1.before) }
  }

  var isEmpty: Bool { sectionDeletions.isEmpty && sectionInsertions.isEmpty && changes.isEmpty }

  private struct Survivor {
    let object: ManagedObject
    let before: ResultIndexPath
    let after: ResultIndexPath

    /// Whether the object's sort values are unchanged.
    func isSortedAlike(_ old: ResultArrangement, _ new: ResultArrangement) -> Bool {
      old.item(of: object)?.values == new.item(of: object)?.values
    }
  }

  private static func isBefore(_ left: ResultIndexPath?, _ right: ResultIndexPath?) -> Bool {
    guard let left, let right else { return false }
    return left < right
  }

  /// - Returns: The names of the sections that are neither removed nor inserted.
  private mutating func compareSections(_ old: ResultArrangement, _ new: ResultArrangement) -> Set<String> {
    let common = new.sections.compactMap { section in
      old.index(ofSection: section.name).map { (name: section.name, index: $0) }
    }
    let kept = Set(Self.longestIncreasing(common.map(\.index)).map { common[$0].name })
    for (index, section) in old.sections.enumerated() where !kept.contains(section.name) {
      sectionDeletions.append((section.name, index))
    }
    for (index, section) in new.sections.enumerated() where !kept.contains(section.name) {
      sectionInsertions.append((section.name, index))
    }
    return kept
  }

  /// Returns the objects that keep their positions: in the same section, between the same unexamined objects, and in
  /// the same relative order.
  private static func staying(
    _ survivors: [Survivor], inSections kept: Set<String>, from old: ResultArrangement, to new: ResultArrangement,
    changedBefore: [ResultIndexPath], changedAfter: [ResultIndexPath]
  ) -> Set<ManagedObject> {
    let (before, after) = (Rows(changedBefore), Rows(changedAfter))
    var candidates: [String: [Survivor]] = Dictionary()
    for survivor in survivors {
      let name = new.sections[survivor.after.section].name
      guard kept.contains(name), old.sections[survivor.before.section].name == name else { continue }
      let anchorBefore = survivor.before.row - before.count(before: survivor.before)
      let anchorAfter = survivor.after.row - after.count(before: survivor.after)
      if anchorBefore == anchorAfter { candidates[name, default: []].append(survivor) }
    }
    return candidates.values.reduce(into: []) { staying, survivors in
      let survivors = survivors.sorted(on: \.after)
      for index in longestIncreasing(survivors.map(\.before.row)) { staying.insert(survivors[index].object) }
    }
  }

  /// The rows of examined objects by section.
  private struct Rows {
    private let rows: [Int: [Int]]

    init(_ paths: [ResultIndexPath]) {
      rows = Dictionary(grouping: paths, by: \.section).mapValues { $0.map(\.row).sorted() }
    }

    /// Returns how many of the section's rows precede a path.
    func count(before path: ResultIndexPath) -> Int {
      guard let rows = rows[path.section] else { return 0 }
      var (low, high) = (0, rows.count)
      while low < high {
        let middle = (low + high) / 2
        if rows[middle] < path.row { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  /// Returns the indexes of a longest increasing subsequence.
  ///
  /// - Complexity: O(*n* log *n*).
  static func longestIncreasing(_ numbers: [Int]) -> [Int] {
    // For each length, the index of the smallest number that ends an increasing subsequence of this length.
    var ends: [Int] = []
    var previous: [Int?] = []
    for (index, number) in numbers.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      previous.append(low > 0 ? ends[low - 1] : nil)
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var series: [Int] = []
    var next = ends.last
    while let index = next {
      series.append(index)
      next = previous[index]
    }
    return series.reversed()
  }
}

extension FetchedResultsDifference {
  init(_ difference: ResultDifference) {
    sectionChanges =
      difference.sectionDeletions.map { .delete($0.name, at: $0.index) }
      + difference.sectionInsertions.map { .insert($0.name, at: $0.index) }
    objectChanges = difference.changes.compactMap { change in
      let id = change.object.objectID
      switch (change.kind, change.before, change.after) {
      case (.delete, let before?, _): return .delete(id, at: before)
      case (.insert, _, let after?): return .insert(id, at: after)
      case (.move, let before?, let after?): return .move(id, from: before, to: after)
      case (.update, let before?, let after?): return .update(id, at: before, now: after)
      default: return nil
      }
    }
  }
}
