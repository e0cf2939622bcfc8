import Foundation
import Persist

/// The index of unique values.
extension SyncTables {
  /// The objects with unique values.
  func holders(of key: Data) throws -> Set<Identity> {
    if let known = holders[key] { return known }
    let prefix = Self.uniquePrefix + key
    let all = Set(try entries(withPrefix: prefix).map { Identity(bytes: Data($0.key.dropFirst(prefix.count))) })
    holders[key] = all
    return all
  }

  private static var uniquePrefix: Data { Data([UInt8(ascii: "U")]) }

  /// The unique values with references, of which the first ones are given, that objects have.
  func uniqueKeys(withBeginning beginning: Data) throws -> Set<Data> {
    var keys = addedKeys[beginning] ?? []
    for entry in try entries(withPrefix: Self.uniquePrefix + beginning) {
      var reader = ByteReader(entry.key.dropFirst())
      keys.insert(try UniqueKey(&reader).bytes)
    }
    return keys
  }

  func uniqueKeys(of identity: Identity) throws -> [Data] {
    if let known = uniqueKeys[identity] { return known }
    let all = try Self.keys(entry(Self.key("u", identity.bytes)))
    uniqueKeys[identity] = all
    return all
  }

  static func keys(_ data: Data?) throws -> [Data] {
    guard let data else { return [] }
    var reader = ByteReader(data)
    var all: [Data] = []
    while !reader.isAtEnd { all.append(try reader.counted()) }
    return all
  }

  func setUniqueKeys(of identity: Identity, to keys: [Data]) throws {
    let former = try uniqueKeys(of: identity)
    guard former != keys else { return }
    for key in former where !keys.contains(key) {
      _ = try holders(of: key)
      holders[key]?.remove(identity)
      set(Self.uniquePrefix + key + identity.bytes, nil)
    }
    for key in keys where !former.contains(key) {
      _ = try holders(of: key)
      holders[key]?.insert(identity)
      let unique = try UniqueKey(key)
      if !unique.references.isEmpty { addedKeys[unique.beginning, default: []].insert(key) }
      set(Self.uniquePrefix + key + identity.bytes, Data())
    }
    uniqueKeys[identity] = keys
    var writer = ByteWriter()
    for key in keys { writer.counted(key) }
    set(Self.key("u", identity.bytes), keys.isEmpty ? nil : writer.data)
  }
}
