/// Results grouped into sections, as a value, so that the states before and after a change can be compared.
///
/// Sections are sorted by their first objects. Objects of a section form one section even if the request's order
/// interleaves them with others.
struct ResultArrangement {
  struct Section {
    let name: String
    /// The section's results, sorted.
    fileprivate(set) var items: [ResultItem]
  }

  private(set) var sections: [Section]
  let order: ResultOrder
  private let isSectioned: Bool
  private var items: [ObjectIdentifier: ResultItem] = Dictionary()
  private var indexes: [String: Int] = Dictionary()

  /// - Parameter isSectioned: Whether empty sections are removed; otherwise there is always exactly one section.
  init(_ order: ResultOrder, isSectioned: Bool) {
    self.order = order
    self.isSectioned = isSectioned
    sections = isSectioned ? [] : [Section(name: "", items: [])]
    indexes = isSectioned ? Dictionary() : ["": 0]
  }

  var count: Int { items.count }
  /// Whether only a fetch can determine the positions of results.
  var isRanked: Bool { sections.contains { $0.items.first?.rank != nil } }

  func item(of object: ManagedObject) -> ResultItem? { items[ObjectIdentifier(object)] }

  func item(at path: ResultIndexPath) -> ResultItem? {
    guard sections.indices.contains(path.section), sections[path.section].items.indices.contains(path.row) else {
      return nil
    }
    return sections[path.section].items[path.row]
  }

  func index(ofSection name: String) -> Int? { indexes[name] }

  /// - Complexity: O(log *objects in the section*).
  func path(of item: ResultItem) -> ResultIndexPath? {
    guard let section = indexes[item.section] else { return nil }
    let row = place(of: item, in: sections[section].items)
    guard row < sections[section].items.count, sections[section].items[row] === item else { return nil }
    return ResultIndexPath(section: section, row: row)
  }

  /// Removes items and inserts others.
  ///
  /// - Complexity: O(*objects in the affected sections*), with O(*changes* · log *objects*) comparisons.
  mutating func replace(_ leaving: [ResultItem], with coming: [ResultItem]) {
    for item in leaving { items[ObjectIdentifier(item.object)] = nil }
    for item in coming { items[ObjectIdentifier(item.object)] = item }
    let left = Dictionary(grouping: leaving, by: \.section)
    let new = Dictionary(grouping: coming, by: \.section)
    var isOutOfOrder = false
    for name in Set(left.keys).union(new.keys) {
      let index = indexes[name] ?? sections.count
      if index == sections.count {
        sections.append(Section(name: name, items: []))
        indexes[name] = index
      }
      let first = sections[index].items.first
      remove(Set(left[name, default: []].map(ObjectIdentifier.init)), outOf: index)
      insert(new[name, default: []].sorted(by: order.isAscending), into: index)
      if sections[index].items.first !== first { isOutOfOrder = true }
    }
    if isOutOfOrder, isSectioned { arrangeSections() }
  }

  private mutating func remove(_ leaving: Set<ObjectIdentifier>, outOf index: Int) {
    guard !leaving.isEmpty else { return }
    sections[index].items.removeAll { leaving.contains(ObjectIdentifier($0)) }
  }

  private mutating func insert(_ coming: [ResultItem], into index: Int) {
    guard !coming.isEmpty else { return }
    let old = sections[index].items
    var items: [ResultItem] = []
    items.reserveCapacity(old.count + coming.count)
    var next = 0
    for item in coming {
      let place = place(of: item, in: old, from: next)
      items += old[next..<place]
      items.append(item)
      next = place
    }
    sections[index].items = items + old[next...]
  }

  /// Returns the position of an item, or its insertion position.
  private func place(of item: ResultItem, in items: [ResultItem], from start: Int = 0) -> Int {
    var (low, high) = (start, items.count)
    while low < high {
      let middle = (low + high) / 2
      if order.isAscending(items[middle], item) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func arrangeSections() {
    sections.removeAll(where: \.items.isEmpty)
    sections.sort { [order] in order.isAscending($0.items[0], $1.items[0]) }
    indexes = Dictionary(uniqueKeysWithValues: sections.enumerated().map { ($1.name, $0) })
  }
}
