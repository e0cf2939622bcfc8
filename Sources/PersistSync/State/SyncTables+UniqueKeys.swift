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

  /// Reads the objects with unique values in few statements.
  func loadHolders(of keys: [Data]) throws {
    let unread = Array(Set(keys.filter { holders[$0] == nil }))
    guard !unread.isEmpty else { return }
    let prefixes = unread.map { Self.uniquePrefix + $0 }
    let found = try history.attachedEntries(prefixes.map { AttachedRange(prefix: $0) }, limit: .max)
    for (key, (prefix, entries)) in zip(unread, zip(prefixes, found)) {
      holders[key] = Set(entries.map { Identity(bytes: Data($0.key.dropFirst(prefix.count))) })
    }
  }

  static func key(unique key: Data, _ identity: Identity) -> Data { uniquePrefix + key + identity.bytes }

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
    _ = try facts(of: identity)
    return uniqueKeys[identity] ?? []
  }

  func setUniqueKeys(of identity: Identity, to keys: [Data]) throws {
    let former = try uniqueKeys(of: identity)
    guard former != keys else { return }
    for key in former where !keys.contains(key) {
      _ = try holders(of: key)
      holders[key]?.remove(identity)
      set(Self.key(unique: key, identity), nil)
    }
    for key in keys where !former.contains(key) {
      _ = try holders(of: key)
      holders[key]?.insert(identity)
      let unique = try UniqueKey(key)
      if !unique.references.isEmpty { addedKeys[unique.beginning, default: []].insert(key) }
      set(Self.key(unique: key, identity), Data())
    }
    _ = try facts(of: identity)
    uniqueKeys[identity] = keys
    setChanged(identity)
  }
}
