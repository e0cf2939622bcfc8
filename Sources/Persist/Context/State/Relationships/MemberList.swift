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
