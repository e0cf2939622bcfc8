import Foundation
import Persist

/// The identity of an object, which all replicas share: an identifying value, or the place and time of its creation.
struct Identity: Sendable, Hashable, Comparable {
  let bytes: Data

  init(bytes: Data) { self.bytes = bytes }

  /// The identity of an object that is known by a value.
  init(_ value: StoredValue, of entity: String) {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "n"))
    writer.counted(entity)
    PortableValue.write(value, to: &writer)
    bytes = writer.data
  }

  /// The identity of an object that is known by its creation: copies of a store agree on it, and later creations under
  /// the same key differ.
  init(store: String, entity: String, key: Int64, created: Double) {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "a"))
    if let uuid = UUID(uuidString: store) { writer.uuid(uuid) } else { writer.counted(store) }
    writer.counted(entity)
    writer.number(UInt64(bitPattern: key))
    writer.fixed(created.bitPattern)
    bytes = writer.data
  }

  /// The creation of an object that is known by its creation in a store; nil for other objects.
  func creation(inStore store: String) -> Origin? {
    var beginning = ByteWriter()
    beginning.byte(UInt8(ascii: "a"))
    if let uuid = UUID(uuidString: store) { beginning.uuid(uuid) } else { beginning.counted(store) }
    guard bytes.starts(with: beginning.bytes) else { return nil }
    var reader = ByteReader(Data(bytes.dropFirst(beginning.bytes.count)))
    guard let root = try? reader.text(), let key = try? reader.number(), let time = try? reader.fixed64(), time != 0
    else { return nil }
    return Origin(root: root, key: Int64(bitPattern: key), time: .created(Double(bitPattern: time)))
  }

  /// Whether the object is known by a value.
  var isValue: Bool { bytes.first == UInt8(ascii: "n") }

  /// The identity of an object that a migration has made beside another one, with the name of its entity.
  init(derivedFrom source: Identity, as entity: String) {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "d"))
    writer.counted(entity)
    writer.raw(source.bytes)
    bytes = writer.data
  }

  /// Reads the name of the entity, at which the bytes begin.
  ///
  /// - Throws: If there is no name where it is expected.
  static func entity(_ reader: inout ByteReader) throws -> String {
    switch try reader.byte() {
    case UInt8(ascii: "n"), UInt8(ascii: "d"): break
    case UInt8(ascii: "a"): _ = try reader.uuid()
    default: throw SyncFormat.error("An identity has an unknown kind.")
    }
    return try reader.text()
  }

  static func < (left: Identity, right: Identity) -> Bool { left.bytes.precedes(right.bytes) }
}

/// The first bytes of the digest of a model's description.
struct ModelTag: Sendable, Hashable {
  let number: UInt64

  init(number: UInt64) { self.number = number }
  init(digest: Data) { number = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
  init(of model: ManagedObjectModel) { self.init(digest: model.digest) }
}

extension [ModelVersion] {
  /// The versions that come before the one with a model; all if none has it.
  func before(_ tag: ModelTag) -> ArraySlice<ModelVersion> { prefix { ModelTag(of: $0.model) != tag } }
}

/// A property as the model of the writer names it.
struct PropertyName: Sendable, Hashable {
  let model: ModelTag
  let entity: String
  /// The name; for an element of a composite, the path to it.
  let name: String
  /// Computed once: names are the keys of most tables.
  private let hash: Int

  init(model: ModelTag, entity: String, name: String) {
    (self.model, self.entity, self.name) = (model, entity, name)
    var hasher = Hasher()
    hasher.combine(model)
    hasher.combine(entity)
    hasher.combine(name)
    hash = hasher.finalize()
  }

  static func == (left: PropertyName, right: PropertyName) -> Bool {
    left.hash == right.hash && left.model == right.model && left.name == right.name && left.entity == right.entity
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
