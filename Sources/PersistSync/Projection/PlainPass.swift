import Foundation
import Persist

/// Applies facts that concern nothing but their own objects: new objects, and changed attributes.
///
/// It has the result of ``FactJoining`` and ``ProjectionPass``, and takes a fraction of their time: it reads and writes
/// the packed facts of many objects at once, as bytes. It leaves all facts to them about objects whose rows may depend
/// on others: those with constraints, ordered or one-to-one relationships, or members, and those to which others refer.
struct PlainPass {
  let step: SyncStep
  /// The facts' tables.
  private let tables: [FactTable]
  /// The bytes that contain contents: those of the tables, and of the packed facts in the store.
  var sources: [[UInt8]]
  var objects: [Object] = []
  /// Whether the store has facts about one of them.
  private(set) var hasKnown = false
  /// The identities of the objects, in the order of these.
  private(set) var identities = ByteNumbers()
  /// The objects of each table, as places among ``objects``.
  private var tableObjects: [[Int]] = []
  /// The replicas that made the changes.
  private(set) var replicas: Set<UUID> = []
  /// The latest time of a change that isn't too far in the future.
  private(set) var latest: UInt64 = 0
  private let limit: UInt64
  private var entities = EntityUses()
  private var uses = HeadUses()

  /// An object, with its facts after the changes.
  struct Object {
    let identity: Identity
    let key: Data
    var packed = PackedFacts()
    /// Whether the store has facts about it.
    var isKnown = false
    /// The key of the row's entry that contains the facts; nil if they are in the object's own entry.
    var rowKey: Data?
    /// Whether it is left to others.
    var isLeft = false
    /// Whether a fact is new.
    var isChanged = false
    /// The changed facts of a known object, as places among those of ``packed``.
    var changed: [Int] = []
    /// The own entity; nil if the object was deleted or has no place.
    var entity: Entity?

    /// Whether it gets a row.
    var isNew: Bool { !isLeft && !isKnown && entity != nil }
    /// Whether attributes of its row change.
    var isUpdated: Bool { !isLeft && isKnown && !changed.isEmpty && entity != nil }
    /// Whether its facts are written.
    var isWritten: Bool { isChanged && !isLeft }
  }

  /// The meaning of a table's head.
  private enum HeadUse {
    case life, left
    case value(Int)
  }

  /// Whether facts of these change sets can be applied in this way at all.
  static func accepts(_ sets: [ChangeSet], _ step: SyncStep) throws -> Bool {
    guard step.map.mappings.isEmpty, try !step.tables.needsProjection else { return false }
    return sets.allSatisfy { set in
      guard !set.entry.isStream, let table = set.table else { return false }
      return !table.general.contains { if case .pass = $0.key { true } else { false } }
    }
  }

  /// - Parameter limit: The latest time that raises the replica's.
  init(_ tables: [FactTable], _ step: SyncStep, upTo limit: UInt64) throws {
    (self.tables, self.step, self.limit, sources) = (tables, step, limit, tables.map(\.bytes))
    let count = tables.reduce(0) { $0 + $1.objects.count }
    objects.reserveCapacity(count)
    identities.reserveCapacity(count, bytes: tables.reduce(0) { $0 + $1.names.count })
    for table in tables {
      var all: [Int] = []
      all.reserveCapacity(table.objects.count)
      for object in table.objects {
        let (place, isNew) = object.identity.bytes.withUnsafeBytes { identities.add($0) }
        all.append(place)
        if isNew { objects.append(Object(identity: object.identity, key: object.key)) }
      }
      tableObjects.append(all)
    }
  }

  /// The objects of tables that are left to others.
  func leftFacts(_ table: Int) -> [ChangeSet.Fact] {
    zip(tables[table].objects, tableObjects[table]).flatMap { object, place in
      objects[place].isLeft ? tables[table].facts(about: object) : []
    }
  }

  /// The least and the greatest key of all objects; nil for none.
  var keyBounds: (least: Data, greatest: Data)? {
    // Those of a table are in order.
    let least = tables.compactMap(\.objects.first?.key).min { $0.precedes($1) }
    let greatest = tables.compactMap(\.objects.last?.key).max { $0.precedes($1) }
    return least.flatMap { least in greatest.map { (least, $0) } }
  }

  var leavesObjects: Bool { objects.contains(where: \.isLeft) }

  // MARK: Facts

  /// Adds the facts to those in the store.
  ///
  /// - Parameter possible: The places of the objects among some that the store may have; nil if nothing is known.
  mutating func join(_ possible: ([Data]) throws -> [Int]?) throws {
    var keys = objects.map(\.key)
    var places = Array(keys.indices)
    if let known = try possible(keys) { (places, keys) = (known, known.map { keys[$0] }) }
    for (place, found) in zip(places, try step.tables.packed(keys)) {
      guard let found else { continue }
      hasKnown = true
      let bytes = [UInt8](found.packed)
      objects[place].packed = try PackedFacts(bytes, source: sources.count)
      sources.append(bytes)
      (objects[place].isKnown, objects[place].rowKey) = (true, found.rowKey)
      if objects[place].packed.hasUnions || objects[place].packed.hasMembers { objects[place].isLeft = true }
    }
    for index in tables.indices { try join(tables[index], index) }
    for place in objects.indices where !objects[place].isLeft { try findEntity(of: place) }
  }

  private mutating func join(_ table: FactTable, _ source: Int) throws {
    let heads = try table.heads.map { head -> HeadUse in
      switch head {
      case .life?: .life
      case .value?: try head.flatMap { try step.tables.heads.number(of: $0) }.map { .value($0) } ?? .left
      default: .left
      }
    }
    var isUsed = Array(repeating: false, count: table.replicas.count)
    var life = LifeNumber()
    for (object, place) in zip(table.objects, tableObjects[source]) where !objects[place].isLeft {
      let isFirst = !objects[place].isKnown && objects[place].packed.life == nil
      if isFirst { objects[place].packed.facts.reserveCapacity(object.facts.count) }
      for fact in object.facts {
        let entry = table.entries[fact]
        switch heads[Int(entry.head)] {
        case .life: try join(life.read(table, entry, step.tables.heads), place)
        case .value(let head):
          let register = PackedFacts.Fact(
            head: head, life: entry.life, otherLife: entry.otherLife, stamp: table.stamp(of: entry), source: source,
            content: entry.content)
          if join(register, place, isFirst: isFirst) {
            isUsed[Int(entry.replica)] = true
            if entry.time <= limit { latest = max(latest, entry.time) }
          }
        case .left: objects[place].isLeft = true
        }
        if objects[place].isLeft { break }
      }
    }
    for (replica, isUsed) in zip(table.replicas, isUsed) where isUsed { replicas.insert(replica) }
  }

  /// Reads lives, of which many have the same entity.
  private struct LifeNumber {
    /// The model and the entity of the last one, among the bytes of the table.
    private var last = 0..<0
    private var number = 0

    mutating func read(_ table: FactTable, _ entry: FactTable.Entry, _ heads: FactHeads) throws -> (UInt32, Int)? {
      let (count, entity) = try Life.count(table.bytes, entry.content)
      if entity.isEmpty || !table.bytes.isEqual(entity, to: table.bytes, last) {
        guard let found = try heads.number(of: Life(table.bytes, entry.content).head) else { return nil }
        (last, number) = (entity, found)
      }
      return (count, number)
    }
  }

  /// - Parameter life: Nil if its head has no number.
  private mutating func join(_ life: (count: UInt32, head: Int)?, _ place: Int) throws {
    guard let life else { return objects[place].isLeft = true }
    if let known = objects[place].packed.life {
      // Another life, or another entity.
      if life.count > known.count || life.count == known.count && life.head != known.head {
        objects[place].isLeft = true
      }
    } else if objects[place].isKnown || !objects[place].packed.facts.isEmpty {
      objects[place].isLeft = true
    } else {
      objects[place].packed.life = life
      objects[place].isChanged = true
    }
  }

  /// - Parameter isFirst: Whether the fact's head is another one than those that are known.
  /// - Returns: Whether the fact is new.
  private mutating func join(_ fact: PackedFacts.Fact, _ place: Int, isFirst: Bool) -> Bool {
    guard let life = objects[place].packed.life, fact.life <= life.count,
      fact.content.count <= PackedFacts.maximum.size, objects[place].packed.facts.count < PackedFacts.maximum.count
    else {
      objects[place].isLeft = true
      return false
    }
    // The object was deleted since.
    guard fact.life == life.count else { return false }
    let known = isFirst ? nil : objects[place].packed.facts.firstIndex { $0.head == fact.head }
    if objects[place].isKnown, isLarge(fact) || known.map({ isLarge(objects[place].packed.facts[$0]) }) == true {
      objects[place].isLeft = true
      return false
    }
    if let known {
      guard precedes(objects[place].packed.facts[known], fact) else { return false }
      objects[place].packed.facts[known] = fact
    } else {
      // It may be an entry of its own.
      if objects[place].packed.hasOthers {
        objects[place].isLeft = true
        return false
      }
      objects[place].packed.facts.append(fact)
    }
    objects[place].isChanged = true
    let index = known ?? objects[place].packed.facts.count - 1
    if objects[place].isKnown, !objects[place].changed.contains(index) { objects[place].changed.append(index) }
    return true
  }

  private func isLarge(_ fact: PackedFacts.Fact) -> Bool {
    PortableValue.isLarge(sources[fact.source], fact.content)
  }

  /// Whether another register replaces one, in the order of their bytes.
  private func precedes(_ old: PackedFacts.Fact, _ new: PackedFacts.Fact) -> Bool {
    if old.life != new.life { return old.life < new.life }
    if old.otherLife != new.otherLife { return old.otherLife < new.otherLife }
    if old.stamp != new.stamp { return old.stamp < new.stamp }
    return sources[old.source][old.content].lexicographicallyPrecedes(sources[new.source][new.content])
  }

  // MARK: Models

  private mutating func findEntity(of place: Int) throws {
    guard let life = objects[place].packed.life else { return objects[place].isLeft = true }
    guard objects[place].isChanged else { return }
    guard life.count % 2 == 1 else {
      // The facts of a deleted object are new, or belong to a life that nobody shows any longer.
      if objects[place].isKnown { objects[place].isLeft = true }
      return
    }
    switch try entities.use(of: life.head, step) {
    case .left: objects[place].isLeft = true
    case .nothing: if objects[place].packed.row != nil { objects[place].isLeft = true }
    case .entity(let entity):
      objects[place].entity = entity
      let row = objects[place].packed.row
      if objects[place].isKnown ? row?.entity != entity.name : row != nil { objects[place].isLeft = true }
    }
  }

  /// The purpose of a value for the row of an object.
  mutating func use(_ head: Int, in entity: Entity) throws -> HeadUses.Use { try uses.use(of: head, in: entity, step) }
}
