import Foundation
import Persist

/// The facts of rows from before the first synchronization, as bytes, many rows at once.
///
/// They are those of ``CapturePass/capture(_:of:_:)``, for rows whose facts are values of their own objects.
struct BirthRows {
  let step: SyncStep
  /// The entries to write.
  private(set) var entries = AttachedList()
  /// The facts for others.
  private(set) var values = ValueFacts()
  private var kinds: [Int: Kind] = [:]
  private let owned: Set<String>

  /// A property with the places of its facts.
  private struct Head {
    /// The number in the store.
    var number: Int
    /// The place among those of ``ValueFacts``.
    var place: Int
  }

  /// The facts of the rows of an entity.
  private final class Kind {
    let part: SyncSchema.EntityPart
    var attributes: [Head] = []
    /// Those of to-one relationships, by their places.
    var relationships: [Head?] = []
    var life = Head(number: 0, place: 0)
    var lifeBytes: [UInt8] = []
    var origin = Head(number: 0, place: 0)

    init(_ part: SyncSchema.EntityPart) { self.part = part }
  }

  init(_ step: SyncStep) {
    self.step = step
    // Facts about owners are those of the members.
    let owning = step.model.entities.flatMap { step.schema[$0].relationships.filter(\.isOneWay) }
    owned = Set(owning.map(\.destination.root.name))
  }

  private var heads: FactHeads { step.tables.heads }

  /// Nil if the rows have other facts than values.
  private mutating func kind(of entity: Entity) throws -> Kind? {
    if let known = kinds[entity.number] { return known }
    let part = step.schema[entity]
    guard step.map.mappings.isEmpty, !owned.contains(entity.root.name),
      !part.relationships.contains(where: { $0.hasMemberFacts || $0.isOneWay || $0.isOrdered }),
      !part.constraints.contains(where: { $0.parts.contains { $0.attribute == nil } })
    else { return nil }
    let kind = Kind(part)
    func head(_ name: String) throws -> Head? {
      let head = FactHead.value(PropertyName(model: step.map.tag, entity: entity.name, name: name))
      return try heads.number(of: head).map { Head(number: $0, place: values.addHead(head)) }
    }
    let life = Life(count: 1, model: step.map.tag, entity: entity.name)
    let origin = Origin.property(ofRowsIn: part.oldestRoot, store: step.storeName)
    guard let lifeNumber = try heads.number(of: life.head), let originNumber = try heads.number(of: .value(origin))
    else { return nil }
    kind.life = Head(number: lifeNumber, place: values.addHead(.life))
    kind.lifeBytes = [UInt8](life.bytes)
    kind.origin = Head(number: originNumber, place: values.addHead(.value(origin)))
    for attribute in part.attributes {
      guard let head = try head(attribute.name) else { return nil }
      kind.attributes.append(head)
    }
    for relationship in part.relationships {
      guard relationship.isRegister else {
        kind.relationships.append(nil)
        continue
      }
      guard let head = try head(relationship.name) else { return nil }
      kind.relationships.append(head)
    }
    kinds[entity.number] = kind
    return kind
  }

  // MARK: Identities

  /// Gives rows identities and lives.
  ///
  /// - Parameter creation: The time of a row's creation in the history.
  /// - Returns: False if a row needs more than this, and then nothing was done.
  mutating func identify(
    _ rows: [SyncStore.Row], creation: (SyncTables.RowID) -> Double?
  ) throws -> Bool {
    let ids = rows.map { step.store.row($0.entity, $0.key) }
    let (sorted, found) = try rowEntries(ids)
    // Those that have been reached before a migration.
    guard !found.places.contains(where: { $0 != nil }), sorted.areDifferent else { return false }
    var keys: Set<Data> = []
    var own: [(key: Data, identity: Identity, row: Int)] = []
    own.reserveCapacity(rows.count)
    for (index, row) in rows.enumerated() {
      guard try kind(of: row.entity) != nil else { return false }
      let identity = try step.identifier(of: row)
        ?? Identity(
          store: step.storeName, entity: step.schema[row.entity].oldestRoot, key: row.key,
          created: creation(ids[index]) ?? 0)
      let key = FactKey.prefix(of: identity)
      // Of several rows with an identifying value, one is known by it.
      guard keys.insert(key).inserted else { return false }
      own.append((key, identity, index))
    }
    guard try step.tables.packed(own.map(\.key)).allSatisfy({ $0 == nil }) else { return false }
    own.sort { $0.key.precedes($1.key) }
    var rowKeys = Array(repeating: Data(), count: rows.count)
    for (index, place) in sorted.order.enumerated() { rowKeys[place] = Data(sorted.keys.bytes[sorted.keys[index]]) }
    for object in own { entries.append(object.key, PackedFacts.link(to: rowKeys[object.row])) }
    let identities = own.reduce(into: Array(repeating: Identity?.none, count: rows.count)) { $0[$1.row] = $1.identity }
    var writer = ByteWriter()
    var packed = PackedFacts()
    for place in sorted.order {
      guard let identity = identities[place], let kind = try kind(of: rows[place].entity) else { continue }
      writer.removeAll()
      RowEntry.begin(identity, in: &writer)
      (packed.row, packed.life) = (ids[place], (count: 1, head: kind.life.number))
      packed.write(to: &writer, [])
      entries.append(rowKeys[place], writer.data)
    }
    return true
  }

  /// The entries of rows, in the order of their keys.
  private func rowEntries(_ ids: [SyncTables.RowID]) throws -> (keys: SortedKeys, values: AttachedValues) {
    let sorted = SortedKeys(SyncTables.keys(of: ids))
    return (sorted, try step.tables.history.attachedValues(of: sorted.keys))
  }

  // MARK: Values

  /// A row with its entry.
  private struct Known {
    var identity: Range<Int>
    var life: UInt32
  }

  /// Makes the facts of rows.
  ///
  /// - Parameters:
  ///   - changes: The changes of the rows before the first synchronization.
  ///   - origin: The time of a row's origin.
  /// - Returns: The rows that need more than this.
  mutating func capture(
    _ rows: [SyncStore.Row], _ changes: (SyncTables.RowID) -> RowChange?, origin: (RowChange?) -> Origin.Time
  ) throws -> [SyncStore.Row] {
    var places: [SyncTables.RowID: Int] = [:]
    var ids: [SyncTables.RowID] = []
    func add(_ id: SyncTables.RowID) {
      guard places[id] == nil else { return }
      places[id] = ids.count
      ids.append(id)
    }
    for row in rows {
      add(step.store.row(row.entity, row.key))
      guard let kind = try kind(of: row.entity) else { continue }
      for (relationship, head) in zip(kind.part.relationships, kind.relationships) where head != nil {
        if let target = step.store.target(relationship, in: row) { add(target) }
      }
    }
    let (sorted, found) = try rowEntries(ids)
    var entryPlaces: [Range<Int>?] = Array(repeating: nil, count: ids.count)
    for (index, place) in sorted.order.enumerated() { entryPlaces[place] = found.places[index] }
    var known: [Known?] = Array(repeating: nil, count: ids.count)
    var packed = PackedValues()
    var left: [SyncStore.Row] = []
    func target(_ id: SyncTables.RowID) throws -> Known? {
      guard let place = places[id], let entry = entryPlaces[place] else { return nil }
      if let found = known[place] { return found }
      guard try packed.read(found.bytes, entry), let life = packed.life?.count else { return nil }
      known[place] = Known(identity: packed.identity, life: life)
      return known[place]
    }
    var object = BirthObject()
    for row in rows {
      let id = step.store.row(row.entity, row.key)
      guard let kind = try kind(of: row.entity), let place = places[id], let entry = entryPlaces[place],
        try packed.read(found.bytes, entry), packed.parts == [.row, .life], packed.facts.isEmpty,
        packed.life?.count == 1, packed.life?.head == kind.life.number
      else {
        left.append(row)
        continue
      }
      let (identity, counted) = (Identity(bytes: Data(found.bytes[packed.identity])), packed.countedIdentity)
      let change = changes(id)
      object.begin(change)
      let isWhole = try collect(row, id, kind, identity, to: &object, origin(change)) { relationship in
        guard let destination = step.store.target(relationship, in: row) else { return .some(nil) }
        guard let known = try target(destination) else { return nil }
        return .some(BirthObject.Target(identity: Data(found.bytes[known.identity]), life: known.life))
      }
      guard isWhole else {
        left.append(row)
        continue
      }
      write(object, id, kind, identity, counted: found.bytes[counted])
    }
    entries.sort()
    values.sort()
    return left
  }

  /// Collects the values of a row.
  ///
  /// - Returns: False if one of them needs more than this.
  private func collect(
    _ row: SyncStore.Row, _ id: SyncTables.RowID, _ kind: Kind, _ identity: Identity, to object: inout BirthObject,
    _ origin: Origin.Time, _ target: (SyncSchema.Relationship) throws -> BirthObject.Target??
  ) throws -> Bool {
    let part = kind.part
    if CapturePass.needsOrigin(identity, origin) {
      let origin = Origin(root: part.oldestRoot, key: id.key, time: origin)
      object.add(number: kind.origin.number, place: kind.origin.place, nil) { $0.raw(origin.content) }
    }
    for (attribute, head) in zip(part.attributes, kind.attributes) {
      let value = try step.store.value(attribute, in: row)
      let name = row.entity.properties[attribute.propertySlot].name
      object.add(number: head.number, place: head.place, name) { PortableValue.write(value, to: &$0) }
    }
    for (relationship, head) in zip(part.relationships, kind.relationships) {
      guard let head else { continue }
      guard let target = try target(relationship) else { return false }
      object.add(number: head.number, place: head.place, relationship.name) { writer in
        guard let target else { return PortableValue.write(.null, to: &writer) }
        writer.raw(PortableValue.bytes(referringTo: Identity(bytes: target.identity), life: target.life))
      }
      // Rows show the others.
      if let target, relationship.inverse?.isToMany != true { object.waiting.append(Identity(bytes: target.identity)) }
    }
    guard object.isPacked else { return false }
    for constraint in part.constraints {
      if let key = UniqueKey(constraint, object.registers(part, kind.attributes.map(\.place))) {
        object.uniqueKeys.append(key.bytes)
      }
    }
    return true
  }

  /// Writes the facts of an object.
  private mutating func write(
    _ object: BirthObject, _ id: SyncTables.RowID, _ kind: Kind, _ identity: Identity, counted: ArraySlice<UInt8>
  ) {
    values.addObject(counted)
    values.add(head: kind.life.place, life: kind.lifeBytes)
    var packed = PackedFacts()
    (packed.row, packed.life, packed.uniqueKeys) = (id, (count: 1, head: kind.life.number), object.uniqueKeys)
    packed.facts.reserveCapacity(object.facts.count)
    for fact in object.facts {
      values.add(head: fact.place, life: 1, stamp: fact.stamp, content: object.contents.bytes[fact.content])
      packed.facts.append(
        PackedFacts.Fact(
          head: fact.number, life: 1, otherLife: 0, stamp: fact.stamp, source: 0, content: fact.content))
    }
    var writer = ByteWriter()
    RowEntry.begin(identity, in: &writer)
    packed.write(to: &writer, [object.contents.bytes])
    var key = ByteWriter()
    SyncTables.writeKey(of: id, to: &key)
    entries.append(key.bytes[...], writer.bytes)
    for unique in object.uniqueKeys { entries.append(SyncTables.key(unique: unique, identity), Data()) }
    for other in object.waiting { entries.append(SyncTables.key("Q", other.bytes, identity.bytes), Data()) }
  }
}

/// The values of one object.
private struct BirthObject {
  struct Fact {
    var number: Int
    var place: Int
    var stamp: Stamp
    var content: Range<Int>
  }

  /// An object to which another one refers.
  struct Target {
    var identity: Data
    var life: UInt32
  }

  private var change: RowChange?
  private(set) var facts: [Fact] = []
  private(set) var contents = ByteWriter()
  var uniqueKeys: [Data] = []
  /// The objects whose rows don't show the reference.
  var waiting: [Identity] = []
  private var times: [String: UInt64] = [:]
  private(set) var isPacked = true

  mutating func begin(_ change: RowChange?) {
    self.change = change
    times = change?.properties ?? [:]
    facts.removeAll(keepingCapacity: true)
    contents.removeAll()
    (uniqueKeys, waiting, isPacked) = ([], [], true)
  }

  /// - Parameters:
  ///   - number: The number of the head in the store.
  ///   - place: Its place among those of the facts for others.
  ///   - name: The property; nil for none.
  mutating func add(number: Int, place: Int, _ name: String?, _ write: (inout ByteWriter) -> Void) {
    let start = contents.bytes.count
    write(&contents)
    let time = max(change?.whole ?? 0, times.isEmpty ? 0 : name.flatMap { times[$0] } ?? 0)
    facts.append(
      Fact(
        number: number, place: place, stamp: Stamp(time: time, replica: Stamp.origin),
        content: start..<contents.bytes.count))
    if contents.bytes.count - start > PackedFacts.maximum.size || facts.count > PackedFacts.maximum.count {
      isPacked = false
    }
  }

  /// The values of constrained attributes.
  ///
  /// - Parameter places: The places of the attributes' heads.
  func registers(_ part: SyncSchema.EntityPart, _ places: [Int]) -> [String: [Register]] {
    var registers: [String: [Register]] = [:]
    for (attribute, place) in zip(part.attributes, places) where part.constrained.contains(attribute.name) {
      guard let fact = facts.first(where: { $0.place == place }) else { continue }
      registers[attribute.name] = [
        Register(life: 1, stamp: fact.stamp, content: Data(contents.bytes[fact.content]))
      ]
    }
    return registers
  }
}
