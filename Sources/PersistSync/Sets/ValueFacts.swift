import Foundation

/// Facts about values that a replica has captured, from which change sets are written without a key and a register for
/// each.
struct ValueFacts {
  /// The value of an attribute. The facts about one object are consecutive.
  struct Fact {
    /// The place of the object among ``objects``.
    var object: Int
    /// The place of the property among ``heads``.
    var head: Int
    var life: UInt32
    var stamp: Stamp
    /// The place of the content among ``bytes``.
    var content: Range<Int>
  }

  /// The beginnings of the keys: ``FactKey/prefix(of:)``.
  private(set) var objects: [Data] = []
  private(set) var heads: [Data] = []
  private(set) var facts: [Fact] = []
  private(set) var bytes: [UInt8] = []

  var isEmpty: Bool { facts.isEmpty }

  /// Adds an object; its facts follow.
  mutating func addObject(_ prefix: Data) { objects.append(prefix) }

  /// Adds a property.
  ///
  /// - Returns: Its place.
  mutating func addHead(_ head: FactHead) -> Int {
    heads.append(head.bytes)
    return heads.count - 1
  }

  /// Adds a fact about the last object.
  mutating func add(head: Int, life: UInt32, stamp: Stamp, content: ArraySlice<UInt8>) {
    let start = bytes.count
    bytes.append(contentsOf: content)
    facts.append(
      Fact(object: objects.count - 1, head: head, life: life, stamp: stamp, content: start..<bytes.count))
  }

  /// Brings the facts in the order of their keys.
  mutating func sort() {
    let ranks = Self.ranks(of: objects)
    let headRanks = Self.ranks(of: heads)
    facts.sort {
      $0.object == $1.object ? headRanks[$0.head] < headRanks[$1.head] : ranks[$0.object] < ranks[$1.object]
    }
  }

  /// The places of bytes in their order.
  private static func ranks(of all: [Data]) -> [Int] {
    // Comparing data takes several times as long as comparing arrays.
    let all = all.map { [UInt8]($0) }
    let order = all.indices.sorted { all[$0].lexicographicallyPrecedes(all[$1]) }
    var ranks = Array(0..<all.count)
    for (rank, place) in order.enumerated() { ranks[place] = rank }
    return ranks
  }

  /// The beginning of facts that a change set has place for.
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
    return end
  }

  /// The compact form of a change set with a part of the facts, which are in order.
  func data(_ entry: SyncEntry, _ range: Range<Int>) -> Data {
    var replicas = ReplicaPlaces()
    var used = Array(repeating: -1, count: heads.count)
    var usedHeads: [Data] = []
    var base: UInt64 = 0
    for fact in facts[range] {
      _ = replicas.place(of: fact.stamp.replica)
      base = max(base, fact.stamp.time)
      if used[fact.head] < 0 {
        used[fact.head] = usedHeads.count
        usedHeads.append(heads[fact.head])
      }
    }
    var writer = ChangeSetWriter(entry, by: replicas.all, upTo: base, heads: usedHeads, count: range.count)
    for fact in facts[range] {
      writer.key(objects[fact.object], head: used[fact.head])
      writer.register(
        life: fact.life, otherLife: 0, time: fact.stamp.time, replica: replicas.place(of: fact.stamp.replica))
      writer.content(bytes[fact.content])
    }
    return writer.data
  }
}
