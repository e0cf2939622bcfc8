import Foundation

/// The parts of a fact's key, each of which many keys have in common.
struct KeyParts {
  /// The beginning up to the object's identity; the whole key of facts that belong to no object.
  let object: Data
  /// The kind of fact and the property; nil for facts that belong to no object.
  let head: FactHead?
  let headBytes: Data
  /// The part after the property: the identity of another object, or a path.
  let rest: Data

  /// The parts of the keys of facts. Those that are equal in consecutive facts have the same memory.
  static func all(of facts: [ChangeSet.Fact]) -> [KeyParts] {
    var last: (identity: Identity, prefix: Data)?
    var heads: [FactHead: Data] = [:]
    return facts.map { fact in
      guard let identity = fact.key.object, let head = FactHead(fact.key) else {
        return KeyParts(object: fact.key.bytes, head: nil, headBytes: Data(), rest: Data())
      }
      let prefix = last?.identity == identity ? last?.prefix : nil
      let object = prefix ?? FactKey.prefix(of: identity)
      if prefix == nil { last = (identity, object) }
      let bytes = heads[head] ?? head.bytes
      heads[head] = bytes
      return KeyParts(object: object, head: head, headBytes: bytes, rest: fact.key.rest)
    }
  }

  /// The places of keys in the order of their bytes. Objects and heads are compared once, since many facts have the
  /// same ones.
  static func order(of keys: [KeyParts]) -> [Int] {
    var objects: [Data] = []
    var heads: [Data: Int] = [:]
    var places: [(object: Int, head: Int)] = []
    places.reserveCapacity(keys.count)
    for key in keys {
      if objects.last != key.object { objects.append(key.object) }
      let head = heads[key.headBytes] ?? heads.count
      heads[key.headBytes] = head
      places.append((objects.count - 1, head))
    }
    let objectRanks = objects.ranks
    let headRanks = heads.sorted { $0.value < $1.value }.map(\.key).ranks
    let ranks = places.map { (object: objectRanks[$0.object], head: headRanks[$0.head]) }
    return keys.indices.sorted { left, right in
      let (first, second) = (ranks[left], ranks[right])
      if first.object != second.object { return first.object < second.object }
      if first.head != second.head { return first.head < second.head }
      return keys[left].rest.precedes(keys[right].rest)
    }
  }
}

extension FactKey {
  /// The second object of a fact.
  var other: Identity? {
    switch self {
    case .member(_, _, let other), .place(_, _, let other), .union(_, let other): other
    case .life, .value, .owner, .part, .model, .cover, .pass: nil
    }
  }

  /// The part after the property: the identity of the second object, or the path to a member; empty for other facts.
  var rest: Data { if case .part(_, _, let path) = self { path.bytes } else { other?.bytes ?? Data() } }
}

extension ByteWriter {
  /// Writes bytes without the beginning that they share with others.
  mutating func shared(_ bytes: Data, with last: Data) {
    let shared = bytes.sharedCount(with: last)
    number(UInt64(shared))
    counted(bytes.dropFirst(shared))
  }
}

extension [Data] {
  /// The places of the byte strings in their order, which are equal for equal ones.
  var ranks: [Int] {
    let order = indices.sorted { self[$0].precedes(self[$1]) }
    var ranks = Array<Int>(repeating: 0, count: count)
    for (index, place) in order.enumerated().dropFirst() {
      let last = order[index - 1]
      ranks[place] = ranks[last] + (self[last] == self[place] ? 0 : 1)
    }
    return ranks
  }
}
