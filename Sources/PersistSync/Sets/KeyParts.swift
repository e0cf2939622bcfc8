import Foundation

/// The parts of a fact's key, each of which many keys have in common.
struct KeyParts {
  /// The beginning up to the object's identity; the whole key of facts that belong to no object.
  let object: Data
  /// The kind of fact and the property; nil for facts that belong to no object.
  let head: FactHead?
  /// The part after the property: the identity of another object, or a path.
  let rest: Data

  init(_ key: FactKey) {
    object = key.object.map(FactKey.prefix) ?? key.bytes
    head = FactHead(key)
    rest = key.rest
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
    counted(Data(bytes.dropFirst(shared)))
  }
}

extension ByteReader {
  mutating func shared(with last: Data) throws -> Data {
    let shared = try count(upTo: last.count)
    return Data(last.prefix(shared)) + (try counted(upTo: 2 * SyncFormat.maximumNameSize))
  }
}
