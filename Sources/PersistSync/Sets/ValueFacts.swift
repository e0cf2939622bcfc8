import Foundation

/// Facts about values that a replica has captured, from which change sets are written without a key and a register for
/// each.
struct ValueFacts {
  /// The value of an attribute, or the life of an object.
  struct Fact {
    /// The place of the object among ``objects``.
    var object: Int
    /// The place of the property among ``heads``.
    var head: Int
    var life: UInt32
    var stamp: Stamp
    /// The place of the content among ``bytes``.
    var content: Range<Int>
    var isLife = false
  }

  /// An object with some facts, which are consecutive.
  private struct Object {
    /// The beginning of its keys, ``FactKey/prefix(of:)``, among ``names``.
    var name: Range<Int>
    var facts: Range<Int>
  }

  private var objects: [Object] = []
  private var names: [UInt8] = []
  private(set) var heads: [Data] = []
  private(set) var facts: [Fact] = []
  private(set) var bytes: [UInt8] = []

  var isEmpty: Bool { facts.isEmpty }

  /// Adds an object; its facts follow.
  ///
  /// - Parameter identity: Its identity after the count of its bytes, as it is in keys and entries.
  mutating func addObject(_ identity: ArraySlice<UInt8>) {
    let start = names.count
    names.append(FactKey.objectMark)
    names.append(contentsOf: identity)
    objects.append(Object(name: start..<names.count, facts: facts.count..<facts.count))
  }

  /// Adds a property.
  ///
  /// - Returns: Its place.
  mutating func addHead(_ head: FactHead) -> Int {
    heads.append(head.bytes)
    return heads.count - 1
  }

  /// Adds a fact about a value of the last object.
  ///
  /// - Returns: The place of its content among ``bytes``.
  @discardableResult
  mutating func add(head: Int, life: UInt32, stamp: Stamp, content: ArraySlice<UInt8>) -> Range<Int> {
    let start = bytes.count
    bytes.append(contentsOf: content)
    add(Fact(object: objects.count - 1, head: head, life: life, stamp: stamp, content: start..<bytes.count))
    return start..<bytes.count
  }

  /// Adds the life of the last object.
  mutating func add(head: Int, life: [UInt8]) {
    let start = bytes.count
    bytes.append(contentsOf: life)
    let stamp = Stamp(time: 0, replica: Stamp.origin)
    add(
      Fact(object: objects.count - 1, head: head, life: 0, stamp: stamp, content: start..<bytes.count, isLife: true))
  }

  private mutating func add(_ fact: Fact) {
    facts.append(fact)
    objects[fact.object].facts = objects[fact.object].facts.lowerBound..<facts.count
  }

  /// Brings the facts in the order of their keys.
  mutating func sort() {
    let ranks = heads.ranks
    let (names, all) = (names, facts)
    let order = objects.indices.sorted { names.order(objects[$0].name, beside: names, objects[$1].name) < 0 }
    facts.removeAll(keepingCapacity: true)
    for object in order {
      let own = all[objects[object].facts]
      if own.count > 1 {
        facts += own.sorted { ranks[$0.head] < ranks[$1.head] }
      } else {
        facts.append(contentsOf: own)
      }
    }
  }

  /// The beginning of facts that a change set has place for. The facts of an object are in one, as far as possible.
  ///
  /// - Parameters:
  ///   - start: The first fact.
  ///   - size: The number of facts in a change set, and their size in bytes.
  /// - Returns: The place after the last one.
  func end(after start: Int, _ size: (count: Int, bytes: Int)) -> Int {
    var (end, used) = (start, 0)
    while end < facts.count, end - start < size.count, used < size.bytes {
      used += facts[end].content.count
      end += 1
    }
    guard end < facts.count else { return end }
    var last = end
    while last > start, facts[last - 1].object == facts[end].object { last -= 1 }
    return last > start ? last : end
  }

  /// The compact form of a change set with a part of the facts, which are in order.
  func data(_ entry: SyncEntry, _ range: Range<Int>) -> Data {
    var replicas = ReplicaPlaces()
    var used = Array(repeating: -1, count: heads.count)
    var usedHeads: [Data] = []
    var base: UInt64 = 0
    for fact in facts[range] {
      if !fact.isLife { _ = replicas.place(of: fact.stamp.replica) }
      base = max(base, fact.stamp.time)
      if used[fact.head] < 0 {
        used[fact.head] = usedHeads.count
        usedHeads.append(heads[fact.head])
      }
    }
    var writer = ChangeSetWriter(entry, by: replicas.all, upTo: base, heads: usedHeads, count: range.count)
    var last = 0..<0
    for fact in facts[range] {
      let name = objects[fact.object].name
      writer.key(names, name, after: last, head: used[fact.head])
      last = name
      if fact.isLife {
        writer.content(bytes[fact.content])
        continue
      }
      writer.register(
        life: fact.life, otherLife: 0, time: fact.stamp.time, replica: replicas.place(of: fact.stamp.replica))
      writer.content(bytes[fact.content])
    }
    return writer.data
  }
}
