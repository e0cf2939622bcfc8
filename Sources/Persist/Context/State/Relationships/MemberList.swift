/// The members of a to-many relationship at one moment, in order.
///
/// Members with prefetched rows are represented by these: iterating creates no identifiers, which would cost as much as
/// the objects.
enum MemberList {
  case objects([ManagedObject])
  case identifiers([ManagedObjectID])
  case rows(PrefetchedMembers, Range<Int>)

  /// The number of members that an iteration creates at once, with their rows.
  static var groupSize: Int { 100 }

  var count: Int {
    switch self {
    case .objects(let objects): objects.count
    case .identifiers(let ids): ids.count
    case .rows(_, let range): range.count
    }
  }

  var identifiers: [ManagedObjectID] {
    switch self {
    case .objects(let objects): objects.map(\.objectID)
    case .identifiers(let ids): ids
    case .rows(let rows, let range): rows.identifiers(range)
    }
  }

  /// Whether the members have prefetched rows that are up to date as far as the context knows.
  func hasRows(in context: ManagedObjectContext) -> Bool {
    if case .rows(let rows, _) = self { rows.areTrue(in: context) } else { false }
  }

  /// Returns the objects of some members, with their prefetched rows, omitting members that can't belong to the
  /// context.
  ///
  /// - Parameter places: The range of members in the list.
  func objects(_ places: Range<Int>, of owner: ManagedObject?) -> [ManagedObject] {
    switch self {
    case .objects(let objects): return Array(objects[places])
    case .identifiers(let ids):
      guard let owner, let context = owner.table?.context else { return [] }
      return ids[places].compactMap { owner.withCompanions(context.registeredOrFault($0)) }
    case .rows(let rows, let range):
      guard let owner, let context = owner.table?.context else { return [] }
      let start = range.lowerBound
      let objects = rows.objects(start + places.lowerBound..<start + places.upperBound, in: context)
      if !rows.areTrue(in: context) { for object in objects { _ = owner.withCompanions(object) } }
      return objects
    }
  }
}

/// The stored members of an unordered relationship, among which one is found by its key, without a set of all.
struct SortedMembers {
  private let read: MemberList
  private var saved: Differences?

  /// The changes of saves since the members were read.
  private final class Differences {
    var gained: OrderedSet<ManagedObjectID> = []
    var lost: OrderedSet<ManagedObjectID> = []
  }

  /// Returns nil if the members aren't in the order of their keys, or some of them are unsaved.
  init?(_ list: MemberList) {
    guard list.isSortedByKey else { return nil }
    read = list
  }

  /// The members, if no save has changed them since they were read.
  var list: MemberList? { saved == nil ? read : nil }

  var identifiers: [ManagedObjectID] { saved == nil ? read.identifiers : set.elements }

  var set: OrderedSet<ManagedObjectID> {
    let members = OrderedSet(read.identifiers)
    return saved.map { members.subtracting($0.lost).union($0.gained) } ?? members
  }

  var count: Int { read.count + (saved.map { $0.gained.count - $0.lost.count } ?? 0) }

  /// - Complexity: O(log *n*).
  func contains(_ member: ManagedObjectID) -> Bool {
    if let saved {
      if saved.gained.contains(member) { return true }
      if saved.lost.contains(member) { return false }
    }
    return read.containsSorted(member)
  }

  mutating func insert(_ member: ManagedObjectID) {
    guard !contains(member) else { return }
    let saved = ownDifferences()
    if !saved.lost.removeUnordered(member) { saved.gained.append(member) }
  }

  mutating func remove(_ member: ManagedObjectID) {
    guard contains(member) else { return }
    let saved = ownDifferences()
    if !saved.gained.removeUnordered(member) { saved.lost.append(member) }
  }

  /// Whether a save to a parent context has added members that aren't saved in a store.
  var hasTemporary: Bool { saved?.gained.contains(where: \.isTemporaryID) == true }

  /// Replaces identifiers of such members.
  mutating func replaceIdentifiers(_ replacement: (OrderedSet<ManagedObjectID>) -> OrderedSet<ManagedObjectID>) {
    guard hasTemporary else { return }
    let saved = ownDifferences()
    saved.gained = replacement(saved.gained)
  }

  /// Returns the differences, which no copy of this value shares.
  private mutating func ownDifferences() -> Differences {
    if isKnownUniquelyReferenced(&saved), let saved { return saved }
    let copy = Differences()
    if let saved { (copy.gained, copy.lost) = (saved.gained, saved.lost) }
    saved = copy
    return copy
  }
}

extension MemberList {
  /// Whether the members are in the order of their keys, and all are saved.
  fileprivate var isSortedByKey: Bool {
    switch self {
    case .objects: false
    case .identifiers(let ids): Self.ascend(ids.lazy.map { $0.rowKey })
    case .rows(let rows, let range): Self.ascend(rows.keys(range))
    }
  }

  private static func ascend(_ keys: some Sequence<Int64>) -> Bool {
    var last: Int64 = 0
    return keys.allSatisfy { key in
      defer { last = key }
      return key > last
    }
  }

  /// Whether an object is a member. The members must be sorted by key.
  fileprivate func containsSorted(_ member: ManagedObjectID) -> Bool {
    let key = member.rowKey
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self.key(at: middle) < key { low = middle + 1 } else { high = middle }
    }
    return low < count && identifier(at: low) == member
  }

  private func key(at index: Int) -> Int64 {
    switch self {
    case .objects(let objects): objects[index].rowKey
    case .identifiers(let ids): ids[index].rowKey
    case .rows(let rows, let range): rows.key(at: range.lowerBound + index)
    }
  }

  private func identifier(at index: Int) -> ManagedObjectID {
    switch self {
    case .objects(let objects): objects[index].objectID
    case .identifiers(let ids): ids[index]
    case .rows(let rows, let range): rows.identifier(at: range.lowerBound + index)
    }
  }
}
