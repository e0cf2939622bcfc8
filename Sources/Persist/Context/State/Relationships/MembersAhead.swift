/// Members of to-many relationships that were read along with those of another owner.
struct MembersAhead {
  /// The maximum number of owners whose members wait for use.
  private static let maximumCount = 4096

  struct Place {
    let owner: Int64
    let slot: Int
  }

  /// The number of lists that are read by themselves before the next ones are read ahead.
  private static let singleLists = 2
  /// The number of lists that are read by themselves after one that was too long to be read with rows.
  private static let pauseAfterLongList = 32

  fileprivate var run = ReadRun()
  private var listReads = 0
  /// By slot and owner.
  private var members: ContiguousArray<[Int64: MemberList]> = []
  private var count = 0

  var includesNeighbors: Bool { run.readsAhead && count < Self.maximumCount }

  func contains(_ place: Place) -> Bool { place.slot < members.count && members[place.slot][place.owner] != nil }

  /// Returns members, which aren't needed here any longer.
  mutating func remove(_ place: Place) -> MemberList? {
    guard place.slot < members.count, let list = members[place.slot].removeValue(forKey: place.owner) else {
      return nil
    }
    count -= 1
    return list
  }

  /// Whether a list of members is read like those of an iteration, with the next owners': only if other lists are read
  /// before and after, because reading a single one without rows is cheaper.
  fileprivate mutating func readsListAhead(isNext: Bool) -> Bool {
    if isNext, listReads >= 0 { return true }
    listReads += 1
    guard listReads > Self.singleLists else { return false }
    listReads = 0
    return true
  }

  fileprivate mutating func recordLongList() { listReads = -Self.pauseAfterLongList }

  /// Begins to keep what a statement has read, unless it can't be used later.
  mutating func begin(isNext: Bool, at moment: ReadMoment?, in context: ManagedObjectContext) {
    if !run.didRead(isNext: isNext, at: moment, in: context) { (members, count) = ([], 0) }
  }

  mutating func add(_ list: MemberList, at place: Place) {
    while members.count <= place.slot { members.append(Dictionary()) }
    if members[place.slot].updateValue(list, forKey: place.owner) == nil { count += 1 }
  }
}

extension ManagedObject {
  /// The maximum number of rows that are read for one owner: more than an iteration creates at once, so that a read of
  /// fewer rows is known to contain all members.
  private static var singleLimit: Int { MemberList.groupSize + 1 }
  /// The maximum number of rows that are read for each of several owners, on average.
  private static var sharedLimit: Int { MemberList.groupSize / 4 }

  /// Does the same as ``memberList(of:)`` for an iteration, which needs the members' rows too: unread members are read
  /// with their rows by one statement, unless there are many.
  final func memberListWithRows(of relationship: RelationshipLayout) -> MemberList {
    do {
      try readMemberRows(of: relationship)
    } catch {
      table?.context.deferError(error)
    }
    return memberList(of: relationship)
  }

  /// Does the same as ``memberList(of:)``; the members of one object after another are read in groups.
  final func memberListInRun(of relationship: RelationshipLayout) -> MemberList {
    readMembersInRun(of: relationship)
    return memberList(of: relationship)
  }

  /// Does the same as ``memberCount(of:)``.
  final func memberCountInRun(of relationship: RelationshipLayout) -> Int {
    readMembersInRun(of: relationship)
    return memberCount(of: relationship)
  }

  /// Reads the members if they are read next in a run, together with those of the next objects.
  final func readMembersInRun(of relationship: RelationshipLayout) {
    guard let table, let store = table.store, hasUnreadMembers(of: relationship),
      table.membersAhead.readsListAhead(isNext: table.membersAhead.run.continues(in: table.context, of: store))
    else { return }
    do { try readMemberRows(of: relationship) } catch { table.context.deferError(error) }
    if hasUnreadMembers(of: relationship) { table.membersAhead.recordLongList() }
  }

  private final func readMemberRows(of relationship: RelationshipLayout) throws {
    guard let table, let store = table.store, hasUnreadMembers(of: relationship) else { return }
    table.context.recordMembers(of: self, at: relationship.slot)
    let place = MembersAhead.Place(owner: key, slot: relationship.slot)
    let isNext = table.membersAhead.run.continues(in: table.context, of: store)
    if isNext, let list = table.membersAhead.remove(place) { return members(of: relationship).load(list) }
    let owners =
      isNext && table.membersAhead.includesNeighbors
      ? nextOwners(of: relationship, in: table, store.readAhead) : [key]
    let property = layout.properties[relationship.slot]
    let limit = owners.count == 1 ? Self.singleLimit : Self.sharedLimit * max(owners.count, ReadAhead.firstGroupSize)
    guard let (found, moment) = try store.relatedRows(by: property, of: layout.entity, owners: owners, limit: limit)
    else { return }
    table.membersAhead.begin(isNext: isNext, at: moment, in: table.context)
    if let row = found.rows.batch.first, let snapshot = row.snapshot,
      table.context.layouts[row.entityIndex].byteCount(of: snapshot) > ReadRun.maximumRowSize
    {
      table.membersAhead.run.stop()
    }
    let lists = memberLists(found, owners: owners, relationship, in: table)
    table.membersAhead.run.record(rows: found.rows.batch.readCount, of: lists.count)
    for (owner, list) in lists {
      if owner == key {
        members(of: relationship).load(list)
      } else if moment != nil {
        table.membersAhead.add(list, at: MembersAhead.Place(owner: owner, slot: relationship.slot))
      }
    }
  }

  /// Whether the members are those of the store, and unread.
  private final func hasUnreadMembers(of relationship: RelationshipLayout) -> Bool {
    guard change != .inserted, !relationship.isTransient, !relationship.isOneWayToMany else { return false }
    guard !toManys.isEmpty, let members = toManys[relationship.slot] else { return true }
    return !members.areKnown && !members.hasChanges
  }

  /// The keys of this object and of the next objects of its entity whose members are unread, in order.
  private final func nextOwners(
    of relationship: RelationshipLayout, in table: ObjectTable, _ extent: ReadAhead
  ) -> [Int64] {
    guard key <= Int64.max - extent.neighborhood else { return [key] }
    let next = (key + 1...key + extent.neighborhood).lazy.filter { [self] key in
      guard let owner = table.map[key], owner.layout === layout else { return false }
      return owner.hasUnreadMembers(of: relationship)
        && !table.membersAhead.contains(MembersAhead.Place(owner: key, slot: relationship.slot))
    }
    return [key] + next.prefix(table.membersAhead.run.groupSize(extent) - 1)
  }

  /// Divides rows by owner, omitting the last one if its rows may be incomplete.
  private final func memberLists(
    _ found: FirstRelatedRows, owners: [Int64], _ relationship: RelationshipLayout, in table: ObjectTable
  ) -> [(owner: Int64, list: MemberList)] {
    guard let tables = table.siblings else { return [] }
    let target = tables.table(for: table.context.layouts[relationship.destinationIndex])
    let members = PrefetchedMembers(found.rows.batch, from: .init(in: target, of: tables, readWith: nil))
    var lists: [(owner: Int64, list: MemberList)] = []
    var start = 0
    for owner in owners {
      let end = found.rows.owners[start...].firstIndex { $0 != owner } ?? found.rows.owners.count
      if end == found.rows.owners.count, !found.areAll { break }
      lists.append((owner, .rows(members, start..<end)))
      start = end
    }
    return lists
  }
}
